"""Rewriting: constructs of SQL that stand for other SQL, from tree to tree."""
