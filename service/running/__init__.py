"""The running service: its state, how it starts and stops, and its checkpoints."""
