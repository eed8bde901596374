"""Starts of the service without its imports: a process has made them once, and is forked for each start."""
