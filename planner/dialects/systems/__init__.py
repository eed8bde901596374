"""What each system has of its own: a table of its functions, and nodes that mean something else there."""
