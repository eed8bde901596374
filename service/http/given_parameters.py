"""The parameters of a request for `/v1/sql`, with the types that they name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.parsing.namespace import Types
from planner.parsing.parameters import NO_PARAMETERS, Given, Parameters
from service.errors import Invalid
from service.http.models import requested_type

_TYPED = frozenset({"type", "value"})
_FEW = 100


def is_plain(given: list[Any] | dict[str, Any] | None) -> bool:
    """Whether there are few values and none names its type, so that `parameters_of` takes no time."""
    if not given:
        return True
    values = given.values() if isinstance(given, dict) else given
    return len(given) <= _FEW and not any(isinstance(value, dict) for value in values)


def parameters_of(given: list[Any] | dict[str, Any] | None, types: Types) -> Parameters:
    """The values by name, or by number for an array. Raises Invalid or a PlannerError for a bad type."""
    if not given:
        return NO_PARAMETERS
    positional = isinstance(given, list)
    named: Mapping[str, Any] = (
        {str(number): value for number, value in enumerate(given, 1)} if isinstance(given, list) else given
    )
    return Parameters({name: _given(name, value, types) for name, value in named.items()}, positional)


def _given(name: str, value: Any, types: Types) -> Given:
    if not isinstance(value, dict):
        return Given(value)
    if value.keys() != _TYPED or not isinstance(value["type"], str):
        raise Invalid(
            f"parameter {name[:100]} is an object without type and value",
            'for JSON, send {"type": "JSON", "value": ...}',
            code="invalid_request",
        )
    return Given(value["value"], requested_type(value["type"], types))
