"""The HTTP door: what every request passes, and the routes."""
