"""The running service: its state, how it starts and ends, and its checkpoints."""
