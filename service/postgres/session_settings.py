"""The settings of a session: what drivers and tools set, and what the service says to it.

Values that are set in a block return with its ROLLBACK, and those of SET LOCAL at its end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from service.errors import Invalid
from service.pgcatalog.server_settings import OF_CLIENT
from service.postgres.known_settings import BY_LOWER, KNOWN, READ_ONLY, REPORTED, checked
from service.reading.session_zones import SessionZone, session_zone

_DEFAULTS = {name.lower(): setting.default for name, setting in KNOWN.items()}


class SessionSettings:
    """`told` is called with the name and value of each reported setting that changes."""

    def __init__(self, told: Callable[[str, str], None]) -> None:
        self._told = told
        self._given: dict[str, str] = {}
        """The values of the start-up, to which RESET returns."""
        self._set: dict[str, str] = {}
        self._before: dict[str, str] | None = None
        """What was set when the block began; None outside blocks."""
        self._local: dict[str, str] = {}
        self._found: dict[str, str] = {}
        """The values that have been asked for since one of them changed."""

    def begin(self, given: Mapping[str, str]) -> None:
        """Takes the settings of the start-up. One that the service does not know is not refused."""
        for name, value in given.items():
            if name.lower() in BY_LOWER or "." in name:
                self._given[name_of(name)] = self._checked(name_of(name), value)
        self._found.clear()

    def fix(self, name: str, value: str) -> None:
        """Sets what the service alone decides."""
        self._given[name] = value
        self._found.clear()

    @property
    def values(self) -> Mapping[str, str]:
        """All settings, by name in lower case."""
        found = {**self._given, **self._set, **self._local}
        return _DEFAULTS | {name.lower(): value for name, value in found.items()}

    def get(self, name: str) -> str:
        """The value of a setting. Raises Invalid for an unknown one."""
        found = self._found.get(name)
        if found is None:
            listed = name_of(name)
            found = self._found[listed] = self._value(listed)
        return found

    def _value(self, name: str) -> str:
        for layer in (self._local, self._set, self._given):
            if name in layer:
                return layer[name]
        if name not in KNOWN:
            raise _unknown(name)
        return KNOWN[name].default

    @property
    def zone(self) -> SessionZone:
        """The time zone by whose clock moments are read and written."""
        return session_zone(self.get("TimeZone"))

    def shown(self, name: str) -> str:
        """The value of a setting with its unit, as SHOW prints it. Raises Invalid for an unknown one."""
        return KNOWN.get(name_of(name), OF_CLIENT).shown(self.get(name))

    def milliseconds(self, name: str) -> int:
        return int(self.get(name))

    def set(self, name: str, value: str | None, local: bool = False) -> None:
        """Sets a value; None is the default. SET LOCAL lasts until the end of the block."""
        name = name_of(name)
        before = self.get(name) if name in KNOWN else ""
        if value is None:
            self._set.pop(name, None)
            self._local.pop(name, None)
        else:
            checked = self._checked(name, value)
            if local and self._before is None:
                return
            (self._local if local else self._set)[name] = checked
            if not local:
                self._local.pop(name, None)
        self._found.clear()
        self._tell(name, before)

    def reset_all(self) -> None:
        before = {name: self.get(name) for name in REPORTED}
        self._set.clear()
        self._local.clear()
        self._found.clear()
        for name, value in before.items():
            self._tell(name, value)

    def all(self) -> list[tuple[str, str, str]]:
        """Name, value and description of all settings that are listed."""
        names = sorted({*KNOWN, *self._given, *self._set}, key=str.lower)
        known = [(name, KNOWN.get(name, OF_CLIENT)) for name in names]
        return [(name, self.shown(name), setting.description) for name, setting in known if setting.is_listed]

    # Blocks

    def begin_block(self) -> None:
        self._before = dict(self._set)

    def end_block(self, committed: bool) -> None:
        before = {name: self.get(name) for name in REPORTED}
        if not committed and self._before is not None:
            self._set = self._before
        self._before = None
        self._local.clear()
        self._found.clear()
        for name, value in before.items():
            self._tell(name, value)

    def _tell(self, name: str, before: str) -> None:
        if name in REPORTED and self.get(name) != before:
            self._told(name, self.get(name))

    def _checked(self, name: str, value: str) -> str:
        if name not in KNOWN:
            return value
        if name in READ_ONLY:
            raise Invalid(f"{name} cannot be changed", "leave it out", code="invalid_setting")
        try:
            return checked(name, value)
        except Invalid as error:
            fact = f'"{value[:100]}" is not a value of {name} here'
            raise Invalid(fact, error.hint, code="invalid_setting") from None


def name_of(name: str) -> str:
    """The name of a setting as it is listed. Raises Invalid for one that no session has."""
    lower = name.lower()
    if lower == "time zone":
        return "TimeZone"
    found = BY_LOWER.get(lower)
    if found is None and "." not in name:
        raise _unknown(name)
    return found or lower


def _unknown(name: str) -> Invalid:
    return Invalid(
        f"there is no setting called {name[:100]}",
        "SHOW ALL lists the settings; names with a dot are free",
        code="unknown_setting",
    )
