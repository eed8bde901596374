"""Cost curves: the cost of the engine's work by one quantity at a time, as plots and tables."""
