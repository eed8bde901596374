"""Reads SET, SHOW, RESET, DISCARD, and SELECT of nothing but functions about settings."""

from __future__ import annotations

import re

from planner.errors import InvalidSyntax
from service.postgres.session_statements import (
    Discard,
    Refused,
    ResetSetting,
    SessionStatement,
    SetConstraints,
    SetSetting,
    SettingCall,
    SettingCalls,
    SetTransaction,
    ShowSetting,
)
from service.postgres.token_reader import TokenReader

_OF_CATALOG = frozenset(
    ("", "TABLES", "VIEWS", "COLUMNS", "CREATE", "SCHEMAS", "BRANCHES", "INDEXES", "SOURCES", "SINKS")
)
"""What follows SHOW where it shows no setting."""
_OFFSET = re.compile(r"([+-]?)([0-9]{1,2}):([0-9]{2})")


def read_modes(reader: TokenReader) -> tuple[str | None, bool | None]:
    """Transaction modes, to the end of the statement."""
    isolation: str | None = None
    read_only: bool | None = None
    while not reader.is_done:
        if reader.took("ISOLATION", "LEVEL"):
            words = reader.value().lower()
            isolation = words if words == "serializable" else f"{words} {reader.value().lower()}"
        elif reader.took("READ", "ONLY"):
            read_only = True
        elif reader.took("READ", "WRITE"):
            read_only = False
        elif not (reader.took("NOT", "DEFERRABLE") or reader.took("DEFERRABLE") or reader.took(",")):
            raise reader.failure()
    return isolation, read_only


def read_set(reader: TokenReader) -> SessionStatement:
    local = reader.took("LOCAL")
    if not local and reader.took("SESSION"):
        if reader.took("CHARACTERISTICS", "AS", "TRANSACTION"):
            return SetTransaction(*read_modes(reader), session=True)
        if reader.took("AUTHORIZATION"):
            return Refused("SET SESSION AUTHORIZATION is not supported", "connect as the other user")
    if reader.took("TRANSACTION"):
        return SetTransaction(*read_modes(reader), session=False)
    if reader.took("CONSTRAINTS"):
        return SetConstraints()
    if reader.took("ROLE"):
        role = reader.value()
        if role.lower() == "none":
            return SetConstraints()
        return Refused("SET ROLE is not supported", "connect as the other user")
    if reader.took("TIME", "ZONE"):
        return SetSetting("TimeZone", _zone(reader), local)
    if reader.took("NAMES"):
        return SetSetting("client_encoding", None if reader.is_done else _values(reader), local)
    name = _setting_name(reader)
    if not (reader.took("TO") or reader.took("=")):
        raise reader.failure("write SET name = value")
    return SetSetting(name, _values(reader), local)


def _zone(reader: TokenReader) -> str | None:
    if reader.took("INTERVAL"):
        match = _OFFSET.fullmatch(reader.text().strip())
        if match is None:
            raise reader.failure("write SET TIME ZONE INTERVAL '+05:30' HOUR TO MINUTE")
        reader.took("HOUR", "TO", "MINUTE")
        reader.end()
        return f"{match[1]}{int(match[2]) + int(match[3]) / 60:.6f}"
    value = _values(reader)
    return None if value is None or value.lower() == "local" else value


def _setting_name(reader: TokenReader) -> str:
    name = reader.name()
    while reader.took("."):
        name += "." + reader.name()
    return name


def _values(reader: TokenReader) -> str | None:
    """The rest as a value: parts that commas divide; None for DEFAULT."""
    if reader.took("DEFAULT"):
        reader.end()
        return None
    parts = [reader.value()]
    while not reader.is_done:
        if not reader.took(","):
            raise reader.failure()
        parts.append(reader.value())
    return ", ".join(parts)


def read_show(reader: TokenReader) -> ShowSetting | None:
    if reader.word in _OF_CATALOG:
        return None
    if reader.took("TIME", "ZONE"):
        return ShowSetting("TimeZone")
    if reader.took("TRANSACTION", "ISOLATION", "LEVEL"):
        return ShowSetting("transaction_isolation")
    name = _setting_name(reader)
    reader.end()
    return ShowSetting("ALL" if name == "all" else name)


def read_select(reader: TokenReader) -> SettingCalls | None:
    """A SELECT that has nothing but calls about settings; None for any other."""
    calls: list[SettingCall] = []
    try:
        while not calls or reader.took(","):
            reader.took("PG_CATALOG", ".")
            function = reader.took_any("CURRENT_SETTING", "SET_CONFIG")
            if function is None or not reader.took("("):
                return None
            calls.append(_setting_call(reader, function == "SET_CONFIG"))
    except InvalidSyntax:
        return None
    return SettingCalls(tuple(calls)) if reader.is_done else None


def _setting_call(reader: TokenReader, sets: bool) -> SettingCall:
    """The arguments of a call, and the name of its column."""
    name, value, flag = reader.text(), None, False
    if sets:
        if not reader.took(","):
            raise reader.failure()
        value = "$" + reader.value() if reader.took("$") else reader.text()
    if reader.took(","):
        flag = reader.took_any("TRUE", "FALSE") == "TRUE"
    if not reader.took(")"):
        raise reader.failure()
    column = reader.name() if reader.took("AS") else "set_config" if sets else "current_setting"
    return SettingCall(column, name, value, sets and flag, flag and not sets)


def read_reset(reader: TokenReader) -> ResetSetting | SetConstraints:
    if reader.took("SESSION", "AUTHORIZATION") or reader.took("ROLE"):
        return SetConstraints()
    if reader.took("TIME", "ZONE"):
        return ResetSetting("TimeZone")
    name = _setting_name(reader)
    reader.end()
    return ResetSetting("ALL" if name == "all" else name)


def read_discard(reader: TokenReader) -> Discard:
    what = reader.took_any("ALL", "PLANS", "SEQUENCES", "TEMP", "TEMPORARY")
    if what is None:
        raise reader.failure("write DISCARD ALL")
    reader.end()
    return Discard(what)
