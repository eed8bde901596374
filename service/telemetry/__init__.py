"""What each request leaves behind: its id, its line in the log, its spans."""
