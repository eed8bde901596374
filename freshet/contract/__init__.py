"""The REST contract as values: each request, how its answer is read, and what answers say."""
