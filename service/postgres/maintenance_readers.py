"""Reads LOCK, and the statements of maintenance: ANALYZE, VACUUM, REINDEX, CLUSTER and CHECKPOINT."""

from __future__ import annotations

from service.postgres.session_statements import LockTables, Maintain
from service.postgres.token_reader import TokenReader

_LOCK = "write LOCK TABLE name, ... [IN mode MODE] [NOWAIT]"
_MODES = {
    ("ACCESS", "SHARE"): False,
    ("ROW", "SHARE"): False,
    ("ROW", "EXCLUSIVE"): False,
    ("SHARE", "UPDATE", "EXCLUSIVE"): False,
    ("SHARE", "ROW", "EXCLUSIVE"): True,
    ("SHARE",): True,
    ("EXCLUSIVE",): True,
    ("ACCESS", "EXCLUSIVE"): True,
}
"""Whether a mode keeps others from changing rows."""
_STATISTICS = "there are no statistics to gather: planning uses the sizes of tables"
_ROOM = "old data is removed automatically"
_INDEXES = "indexes are kept up to date and need not be built again"
_ORDER = "rows are stored in the order of their columns"


def read_lock(reader: TokenReader) -> LockTables:
    reader.took("TABLE")
    relations = [_locked(reader)]
    while reader.took(","):
        relations.append(_locked(reader))
    pins = True
    if reader.took("IN"):
        mode = next((mode for mode in _MODES if reader.took(*mode, "MODE")), None)
        if mode is None:
            raise reader.failure(_LOCK)
        pins = _MODES[mode]
    reader.took("NOWAIT")
    reader.end()
    return LockTables(tuple(relations), pins)


def _locked(reader: TokenReader) -> tuple[str | None, str]:
    reader.took("ONLY")
    relation = reader.relation()
    reader.took("*")
    return relation


def read_analyze(reader: TokenReader) -> Maintain:
    """ANALYZE [VERBOSE | (option, ...)] [table [(column, ...)], ...]."""
    if not reader.took("VERBOSE"):
        _skip_list(reader)
    return Maintain("ANALYZE", _STATISTICS, _tables(reader))


def read_vacuum(reader: TokenReader) -> Maintain:
    """VACUUM [FULL] [FREEZE] [VERBOSE] [ANALYZE] or (option, ...), and tables."""
    while reader.took_any("FULL", "FREEZE", "VERBOSE", "ANALYZE"):
        pass
    _skip_list(reader)
    return Maintain("VACUUM", _ROOM, _tables(reader), alone=True)


def read_reindex(reader: TokenReader) -> Maintain:
    """REINDEX [(option, ...)] {INDEX | TABLE | SCHEMA | DATABASE | SYSTEM} [CONCURRENTLY] [name]."""
    _skip_list(reader)
    kind = reader.took_any("INDEX", "TABLE", "SCHEMA", "DATABASE", "SYSTEM")
    if kind is None:
        raise reader.failure("write REINDEX TABLE name")
    concurrently = reader.took("CONCURRENTLY")
    named = () if reader.is_done and kind in ("DATABASE", "SYSTEM") else (reader.relation(),)
    reader.end()
    alone = concurrently or kind in ("SCHEMA", "DATABASE", "SYSTEM")
    return Maintain("REINDEX", _INDEXES, named if kind == "TABLE" else (), alone)


def read_cluster(reader: TokenReader) -> Maintain:
    """CLUSTER [VERBOSE | (VERBOSE)] [table [USING index]]."""
    if not reader.took("VERBOSE"):
        _skip_list(reader)
    if reader.is_done:
        return Maintain("CLUSTER", _ORDER, alone=True)
    relation = reader.relation()
    if reader.took("USING"):
        reader.name()
    reader.end()
    return Maintain("CLUSTER", _ORDER, (relation,))


def read_checkpoint(reader: TokenReader) -> Maintain:
    reader.end()
    return Maintain("CHECKPOINT", "checkpoints are made automatically, and a change survives without one")


def _tables(reader: TokenReader) -> tuple[tuple[str | None, str], ...]:
    """The rest: tables, each with columns if they are written."""
    if reader.is_done:
        return ()
    found = [reader.relation()]
    _skip_list(reader)
    while reader.took(","):
        found.append(reader.relation())
        _skip_list(reader)
    reader.end()
    return tuple(found)


def _skip_list(reader: TokenReader) -> None:
    """Passes a list of options or columns, between parentheses."""
    if reader.word == "(":
        reader.inside("write a name between the parentheses")
