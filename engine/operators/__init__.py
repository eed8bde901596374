"""Running operators: the state that keeps a plan's collections up to date."""
