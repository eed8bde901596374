"""Derivations: why a view has a row, as the rows of tables that it follows from."""
