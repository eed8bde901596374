"""The settings in force, as an admin may see them: what can hold a password is not shown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

from service.settings.settings import Settings

CONCEALED = frozenset({"database_url", "spark_conf", "spark_remote", "load_roots"})
"""Settings that can hold addresses with passwords, or options with secrets."""
_GIVEN = "(set)"


@dataclass(frozen=True)
class ShownSetting:
    variable: str
    value: str
    default: str
    meaning: str


def shown_settings(settings: Settings) -> Iterator[ShownSetting]:
    """Every setting, in the order of the documentation."""
    for item in fields(settings):
        value = str(getattr(settings, item.name))
        hidden = item.name in CONCEALED and value != ""
        variable, meaning = item.metadata["variable"], item.metadata["meaning"]
        yield ShownSetting(variable, _GIVEN if hidden else value, str(item.default), meaning)
