"""The routes of the REST contract, one module for each resource."""
