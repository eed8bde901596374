"""How calls are sent: over HTTP or to an embedded service, and when they are sent again."""
