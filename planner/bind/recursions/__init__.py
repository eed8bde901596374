"""What standard recursions have beside their queries: SEARCH, CYCLE and USING KEY, as loops without them."""
