"""The HTTP interface: the layers that every request passes, and the routes."""
