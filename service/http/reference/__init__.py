"""The description of the interface: the OpenAPI document, the page `/docs`, and the files of the console."""
