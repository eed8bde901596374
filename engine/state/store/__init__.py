"""State on disk: batches and texts in files that are written once and never changed."""
