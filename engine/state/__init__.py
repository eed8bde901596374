"""State: times, batches and traces, the dictionary of texts, and snapshots."""
