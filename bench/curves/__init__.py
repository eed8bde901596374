"""Cost curves: what the engine's work costs against one quantity at a time, as plots and tables."""
