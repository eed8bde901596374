"""The process: its command line, its socket, and the compilation of kernels in the background."""
