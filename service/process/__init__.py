"""The process: its command line, its socket, and the kernels that are compiled beside it."""
