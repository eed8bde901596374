"""The description of the interface: the OpenAPI document, and the pages `/` and `/docs`."""
