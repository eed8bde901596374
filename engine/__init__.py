"""The engine: differential dataflow over rows, with compiled kernels. `engine.api` is its Python library."""
