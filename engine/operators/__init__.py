"""Running operators, whose state keeps a plan's collections up to date."""
