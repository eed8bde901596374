"""Decoding: bodies of requests to rows, within the budget of the request."""
