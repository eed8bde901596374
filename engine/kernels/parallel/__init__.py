"""Large pieces of work in parts, on all cores: the threads, and how the work of kernels is divided."""
