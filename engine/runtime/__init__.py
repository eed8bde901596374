"""The engine: sources and views, advances that are staged and then published, hydration and spilling."""
