"""The REST contract's routes, a module each for what they are about."""
