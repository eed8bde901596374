"""State: times, batches and the traces made of them, the dictionary of texts, and snapshots."""
