"""PostgreSQL's functions of degrees, which are exact where the value is: sind(30) is 0.5, acosd(0.5) 60.

A sine is computed up to 30 degrees and a cosine up to 60, each in proportion to its value there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

_DEGREE = "0.017453292519943295e0"
_SINE_30 = repr(math.sin(30 * 0.017453292519943295)) + "e0"
_REST_60 = repr(1 - math.cos(60 * 0.017453292519943295)) + "e0"
_ASIN_HALF, _ACOS_HALF = (repr(value) + "e0" for value in (math.asin(0.5), math.acos(0.5)))
_ATAN_ONE = repr(math.atan(1.0)) + "e0"
_LITTLE_SINE = f"((sin((X) * {_DEGREE}) / {_SINE_30}) / 2e0)"
_LITTLE_COSINE = f"(1e0 - ((1e0 - cos((X) * {_DEGREE})) / {_REST_60}) / 2e0)"
_SINE = f"CASE WHEN X <= 30 THEN {_LITTLE_SINE} ELSE {_LITTLE_COSINE.replace('X', '90 - X')} END"
_COSINE = f"CASE WHEN X <= 60 THEN {_LITTLE_COSINE} ELSE {_LITTLE_SINE.replace('X', '90 - X')} END"
"""Of angles in the first quadrant."""
_ASIN = f"CASE WHEN X <= 0.5 THEN asin(X) / {_ASIN_HALF} * 30 ELSE 90 - acos(X) / {_ACOS_HALF} * 60 END"
_ACOS = f"CASE WHEN X <= 0.5 THEN 90 - asin(X) / {_ASIN_HALF} * 30 ELSE acos(X) / {_ACOS_HALF} * 60 END"
"""Of values from 0 to 1."""


def _bound(value: str, name: str, body: str) -> str:
    return f"list_transform([{value}], lambda {name}: {body})[1]"


def _of_angle(body: str) -> str:
    """`body` by X, the acute angle to the nearer side; by TURN, the sign of an angle measured back from 360
    degrees beyond 180; and by SIDE, the sign beyond 90."""
    least = "CASE WHEN abs(whole) > 180 THEN 360 - abs(whole) ELSE abs(whole) END"
    turn = "(CASE WHEN (whole < 0) <> (abs(whole) > 180) THEN -1 ELSE 1 END)"
    side = "(CASE WHEN angle > 90 THEN -1 ELSE 1 END)"
    body = body.replace("TURN", turn).replace("SIDE", side).replace("X", "acute")
    inner = _bound("CASE WHEN angle > 90 THEN 180 - angle ELSE angle END", "acute", body)
    return _bound("CAST({0} AS DOUBLE) % 360", "whole", _bound(least, "angle", inner))


def _of_value(value: str, body: str) -> str:
    return _bound(value, "given", body.replace("X", "abs(given)"))


_ARC = f"CASE WHEN given >= 0 THEN {_ASIN} ELSE -({_ASIN}) END"
_REST = f"CASE WHEN given >= 0 THEN {_ACOS} ELSE 90 + ({_ASIN}) END"
DEGREES: Mapping[str, str] = {
    "SIND(x)": _of_angle(f"TURN * ({_SINE})"),
    "COSD(x)": _of_angle(f"SIDE * ({_COSINE})"),
    "TAND(x)": _of_angle(f"TURN * SIDE * (({_SINE}) / ({_COSINE})) + 0e0"),
    "COTD(x)": _of_angle(f"TURN * SIDE * (({_COSINE}) / ({_SINE})) + 0e0"),
    "ASIND(x)": _of_value("CAST({0} AS DOUBLE)", _ARC),
    "ACOSD(x)": _of_value("CAST({0} AS DOUBLE)", _REST),
    "ATAND(x)": f"atan({{0}}) / {_ATAN_ONE} * 45",
    "ATAN2D(y, x)": f"atan2({{0}}, {{1}}) / {_ATAN_ONE} * 45",
}
