"""The relational IR into the engine's plan: each operator of a query as nodes that the engine maintains."""
