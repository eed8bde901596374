"""Decoding: request bodies to rows, within the request's budget."""
