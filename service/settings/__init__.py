"""Settings: read once from the environment, and frozen."""
