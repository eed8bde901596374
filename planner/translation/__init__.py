"""A query of any dialect in DuckDB's SQL, so that its author sees what it is understood to mean."""

from planner.translation.translating import Translation, translate

__all__ = ["Translation", "translate"]
