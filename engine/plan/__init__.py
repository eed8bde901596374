"""The engine's input language: frozen nodes, the expressions in them, and their fingerprints."""
