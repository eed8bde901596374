"""State on disk: batches and texts as files that are written once and never changed."""
