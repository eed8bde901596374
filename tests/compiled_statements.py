"""Statements as SQLAlchemy has compiled them, kept for all catalogs in SQLite of a process.

Each service has an engine of SQLAlchemy, and each engine compiles every statement anew: in a test that starts
a service and asks it little, that is a fifth of the time.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import sqlalchemy as sa

_create_engine = sa.create_engine


@cache
def _first() -> sa.Engine:
    """The engine whose dialect and statements all others have. It has been connected once, from which its
    dialect knows the SQLite of this process."""
    engine = _create_engine("sqlite://")
    engine.connect().close()
    engine.dispose()
    return engine


def _sharing_engine(*place: Any, **options: Any) -> sa.Engine:
    engine = _create_engine(*place, **options)
    if engine.dialect.name == "sqlite":
        first = _first()
        engine.dialect, engine._compiled_cache = first.dialect, first._compiled_cache
    return engine


def share() -> None:
    """From now on the engines of this process that are made for SQLite share what they compile."""
    sa.create_engine = _sharing_engine
