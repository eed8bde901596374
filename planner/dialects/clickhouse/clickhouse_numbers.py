"""ClickHouse's functions of numbers, bits and bytes, and its choices.

Quotients are DOUBLEs, and a division by zero gives an infinite one; intDiv and modulo fail there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from planner.dialects.overloads import PREFIX
from planner.dialects.trying import tried
from planner.errors import InvalidQuery
from planner.native.templates import Args, Made, Meanings, call_of, sql


def _binary(node: type[exp.Binary]) -> Made:
    """A function for an operator: PLUS(1, 2)."""
    return lambda args: exp.paren(node(this=args[0].copy(), expression=args[1].copy()), copy=False)


def _chain(joined: Callable[..., exp.Condition]) -> Made:
    """AND(1, 1, 0) is 0: numbers other than zero are true."""
    return lambda args: exp.paren(joined(*(truth(arg) for arg in args), copy=False), copy=False)


def truth(node: exp.Expression) -> exp.Expression:
    """A condition, or a number other than zero."""
    if isinstance(node, exp.Predicate | exp.Connector | exp.Not | exp.Boolean):
        return node.copy()
    return call_of(f"{PREFIX}truth_of_clickhouse", [node], "the condition")


def _odd(args: Args) -> exp.Expression:
    """XOR(1, 1, 1) is 1."""
    each = " + ".join(f"CAST({{{place}}} AS INTEGER)" for place in range(len(args)))
    return sql(f"({each}) % 2 = 1", [truth(arg) for arg in args])


def _if(args: Args) -> exp.Expression:
    """IF(NULL, 1, 2) is 2."""
    return exp.Case(ifs=[exp.If(this=truth(args[0]), true=args[1].copy())], default=args[2].copy())


def _multi_if(args: Args) -> exp.Expression:
    """MULTIIF(1 > 2, 'a', 2 > 1, 'b', 'c') is b."""
    if len(args) % 2 == 0:
        raise InvalidQuery("multiIf takes conditions and values in turn, and one value more")
    ifs = [
        exp.If(this=truth(test), true=value.copy())
        for test, value in zip(args[:-1:2], args[1::2], strict=True)
    ]
    return exp.Case(ifs=ifs, default=args[-1].copy())


def _case(args: Args) -> exp.Expression:
    """CASEWITHEXPRESSION(2, 1, 'one', 2, 'two', 'other') is two."""
    value, *rest = args
    ifs = [
        exp.If(this=test.copy(), true=then.copy()) for test, then in zip(rest[:-1:2], rest[1::2], strict=True)
    ]
    return exp.Case(this=value.copy(), ifs=ifs, default=rest[-1].copy())


def _transformed(args: Args) -> exp.Expression:
    """TRANSFORM(2, [1, 2], ['one', 'two'], 'other') is two."""
    value, sources, targets, *default = args
    place = sql("list_position({0}, {1})", [sources, value])
    found = sql("list_extract({0}, {1})", [targets, place])
    other = default[0] if default else value
    return exp.Case(ifs=[exp.If(this=sql("{0} IS NOT NULL", [place]), true=found)], default=other.copy())


def _rounded(args: Args) -> exp.Expression:
    """ROUND(2.5) is 2: a DOUBLE in the middle goes to the even number, a decimal away from zero."""
    return call_of(
        f"{PREFIX}rounded_of_clickhouse",
        [args[0], *args[1:2]] if len(args) > 1 else [args[0], exp.Literal.number(0)],
        "round",
    )


def _bits_set(kind: str) -> Made:
    """BITTESTALL(43, 0, 1, 3, 5) is 1."""

    def made(args: Args) -> exp.Expression:
        each = (f"({{0}} >> {{{place}}}) & 1 = 1" for place in range(1, len(args)))
        return sql(f" {kind} ".join(each), args)

    return made


def _signs(args: Args) -> exp.Expression:
    """CHAR(104, 105) is hi."""
    return sql(" || ".join(f"chr(CAST({{{place}}} AS INTEGER))" for place in range(len(args))), args)


_OR_ZERO = "CASE WHEN {0} IS NOT NULL AND {1} IS NOT NULL THEN coalesce({2}, 0) END"


def _or_zero(node: type[exp.Binary]) -> Made:
    """INTDIVORZERO(1, 0) is 0."""
    return lambda args: sql(_OR_ZERO, [*args, _failing(node)(args)])


def _failing(node: type[exp.Binary]) -> Made:
    """MODULOORNULL(5, 0) is NULL."""
    return lambda args: tried(_binary(node)(args))


def _readable(base: int, units: Sequence[str]) -> str:
    """FORMATREADABLESIZE(192851925) is 183.92 MiB."""
    number = "CAST({0} AS DOUBLE)"
    forms = [f"rtrim(printf('%.2f {unit}', {number} / {base**power}))" for power, unit in enumerate(units)]
    tests = [
        f"WHEN abs({number}) < {base ** (power + 1)} THEN {form}" for power, form in enumerate(forms[:-1])
    ]
    return f"CASE {' '.join(tests)} WHEN {{0}} IS NOT NULL THEN {forms[-1]} END"


_OCTETS = " || '.' || ".join(f"CAST({{0}} // {1 << shift} % 256 AS VARCHAR)" for shift in (24, 16, 8, 0))
_OCTET = "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_IS_IPV4 = f"regexp_full_match({{0}}, '{'[.]'.join([_OCTET] * 4)}')"
_GROUP_OF_IPV6 = "[0-9A-Fa-f][0-9A-Fa-f]?[0-9A-Fa-f]?[0-9A-Fa-f]?"
_WITHOUT_IPV4 = f"regexp_replace({{0}}, ':{'[.]'.join([_OCTET] * 4)}$', ':0:0')"
_GROUPS_OF_IPV6 = f"(?:{_GROUP_OF_IPV6}(?::{_GROUP_OF_IPV6})*)?"
_IS_IPV6 = (
    f"regexp_full_match({_WITHOUT_IPV4}, '{':'.join([_GROUP_OF_IPV6] * 8)}')"
    f" OR (regexp_full_match({_WITHOUT_IPV4}, '{_GROUPS_OF_IPV6}::{_GROUPS_OF_IPV6}')"
    f" AND len(regexp_extract_all({_WITHOUT_IPV4}, '[0-9A-Fa-f]+')) <= 7)"
)
_DELTAS = (
    (31556952, "year"),
    (2629746, "month"),
    (86400, "day"),
    (3600, "hour"),
    (60, "minute"),
    (1, "second"),
)


def _delta() -> str:
    """FORMATREADABLETIMEDELTA(3661) is 1 hour, 1 minute and 1 second."""
    rest, parts = "CAST(trunc({0}) AS BIGINT)", []
    for seconds, unit in _DELTAS:
        count = f"({rest}) // {seconds}"
        plural = f"CASE WHEN {count} = 1 THEN '{unit}' ELSE '{unit}s' END"
        parts.append(f"CASE WHEN {count} > 0 THEN CAST({count} AS VARCHAR) || ' ' || {plural} END")
        rest = f"({rest}) % {seconds}"
    there = f"list_filter([{', '.join(parts)}], lambda part: part IS NOT NULL)"
    joined = (
        "list_transform([THERE], lambda parts:"
        " CASE WHEN len(parts) = 0 THEN '0 seconds' WHEN len(parts) = 1 THEN parts[1]"
        " ELSE array_to_string(list_slice(parts, 1, len(parts) - 1), ', ') || ' and ' || parts[-1] END)[1]"
    ).replace("THERE", there)
    return f"CASE WHEN {{0}} >= 0 THEN {joined} END"


_PLACES_OF_BITS = "list_filter(range(0, 63), lambda place: ({0} >> place) & 1 = 1)"
_POWERS = f"list_transform({_PLACES_OF_BITS}, lambda place: 1 << place)"
_EXP2 = "CAST(pow(2, {0}) AS DOUBLE)"
_RANGES = (
    (1, 1),
    (10, 10),
    (30, 30),
    (60, 60),
    (120, 120),
    (180, 180),
    (240, 240),
    (300, 300),
    (600, 600),
    (1200, 1200),
    (1800, 1800),
    (3600, 3600),
    (7200, 7200),
    (18000, 18000),
    (36000, 36000),
)
_DURATION = (
    "CASE "
    + " ".join(f"WHEN {{0}} >= {least} THEN {given}" for least, given in reversed(_RANGES))
    + " ELSE 0 END"
)

NUMBERS: Meanings = {
    "PLUS(a, b)": _binary(exp.Add),
    "MINUS(a, b)": _binary(exp.Sub),
    "MULTIPLY(a, b)": _binary(exp.Mul),
    "DIVIDE(a, b)": _binary(exp.Div),
    "MODULO(a, b)": _binary(exp.Mod),
    "INTDIV(a, b)": _binary(exp.IntDiv),
    "NEGATE(value)": lambda args: exp.Neg(this=args[0].copy()),
    "POSITIVEMODULO(a, b)": "({0} % {1} + abs({1})) % {1}",
    "INTDIVORZERO(a, b)": _or_zero(exp.IntDiv),
    "MODULOORZERO(a, b)": _or_zero(exp.Mod),
    "INTDIVORNULL(a, b)": _failing(exp.IntDiv),
    "MODULOORNULL(a, b)": _failing(exp.Mod),
    "DIVIDEORNULL(a, b)": "CASE WHEN {1} <> 0 THEN CAST({0} AS DOUBLE) / {1} END",
    "MAX2(a, b)": "CAST(greatest({0}, {1}) AS DOUBLE)",
    "MIN2(a, b)": "CAST(least({0}, {1}) AS DOUBLE)",
    "ISFINITE(value)": "isfinite(CAST({0} AS DOUBLE))",
    "ISINFINITE(value)": "isinf(CAST({0} AS DOUBLE))",
    "ISNAN(value)": "isnan(CAST({0} AS DOUBLE))",
    "IFNOTFINITE(value, other)": (
        "CASE WHEN isfinite(CAST({0} AS DOUBLE)) THEN CAST({0} AS DOUBLE) ELSE {1} END"
    ),
    "ROUND(value, digits?)": _rounded,
    "ROUNDBANKERS(value)": "round_even(CAST({0} AS DOUBLE), 0)",
    "ROUNDBANKERS(value, digits)": "round_even(CAST({0} AS DOUBLE), {1})",
    "ROUNDTOEXP2(value)": "CASE WHEN {0} < 1 THEN 0 ELSE CAST(pow(2, floor(log2({0}))) AS BIGINT) END",
    "ROUNDDOWN(value, bounds)": (
        "coalesce(list_max(list_filter({1}, lambda bound: bound <= {0})), list_min({1}))"
    ),
    "ROUNDAGE(age)": (
        "CASE WHEN {0} < 1 THEN 0 WHEN {0} < 18 THEN 17 WHEN {0} < 25 THEN 18 WHEN {0} < 35 THEN 25"
        " WHEN {0} < 45 THEN 35 WHEN {0} < 55 THEN 45 ELSE 55 END"
    ),
    "ROUNDDURATION(seconds)": _DURATION,
    "E()": "exp(1)",
    "EXP2(value)": _EXP2,
    "EXP10(value)": "CAST(pow(10, {0}) AS DOUBLE)",
    "INTEXP2(value)": "CAST(1 AS UBIGINT) << {0}",
    "INTEXP10(value)": "CAST(pow(10, {0}) AS UBIGINT)",
    "CBRT(value)": ("CASE WHEN pow(round(cbrt({0})), 3) = {0} THEN round(cbrt({0})) ELSE cbrt({0}) END"),
    "TGAMMA(value)": "gamma(CAST({0} AS DOUBLE))",
    "HYPOT(a, b)": "sqrt(CAST({0} AS DOUBLE) * {0} + CAST({1} AS DOUBLE) * {1})",
    "LOG1P(value)": "ln(1 + CAST({0} AS DOUBLE))",
    "WIDTHBUCKET(value, low, high, count)": (
        "CASE WHEN {0} < {1} THEN 0 WHEN {0} >= {2} THEN {3} + 1"
        " ELSE CAST(floor(({0} - {1}) * {3} / ({2} - {1})) AS INTEGER) + 1 END"
    ),
    "BITAND(a, b)": "{0} & {1}",
    "BITOR(a, b)": "{0} | {1}",
    "BITXOR(a, b)": "xor({0}, {1})",
    "BITNOT(value)": "~{0}",
    "BITSHIFTLEFT(value, count)": "CAST({0} AS BIGINT) << {1}",
    "BITSHIFTRIGHT(value, count)": "{0} >> {1}",
    "BITTEST(value, place)": "({0} >> {1}) & 1",
    "BITTESTALL(value, place, ...)": _bits_set("AND"),
    "BITTESTANY(value, place, ...)": _bits_set("OR"),
    "BITCOUNT(value)": "bit_count({0})",
    "BITHAMMINGDISTANCE(a, b)": "bit_count(xor(CAST({0} AS BIGINT), CAST({1} AS BIGINT)))",
    "BITPOSITIONSTOARRAY(value)": _PLACES_OF_BITS,
    "BITMASKTOARRAY(value)": _POWERS,
    "BITMASKTOLIST(value)": f"array_to_string({_POWERS}, ',')",
    "HEX(value)": "@hex_of_clickhouse",
    "UNHEX(text)": "decode(unhex({0}))",
    "BIN(value)": "@bin_of_clickhouse",
    "UNBIN(text)": "decode(from_binary({0}))",
    "BASE64ENCODE(text)": "to_base64(encode({0}))",
    "BASE64DECODE(text)": "decode(from_base64({0}))",
    "TRYBASE64DECODE(text)": lambda args: sql(
        "CASE WHEN {0} IS NOT NULL THEN coalesce({1}, '') END",
        [args[0], tried(sql("decode(from_base64({0}))", args))],
    ),
    "BASE64URLENCODE(text)": "rtrim(translate(to_base64(encode({0})), '+/', '-_'), '=')",
    "CHAR(code, ...)": _signs,
    # MD5, SHA1 and SHA256 give bytes
    "MD5(text)": "unhex(md5({0}))",
    "SHA1(text)": "unhex(sha1({0}))",
    "SHA256(text)": "unhex(sha256({0}))",
    "IPV4NUMTOSTRING(number)": _OCTETS,
    "IPV4STRINGTONUM(text)": (
        f"CASE WHEN {_IS_IPV4} THEN CAST(split_part({{0}}, '.', 1) AS BIGINT) * 16777216"
        " + CAST(split_part({0}, '.', 2) AS BIGINT) * 65536 + CAST(split_part({0}, '.', 3) AS BIGINT) * 256"
        " + CAST(split_part({0}, '.', 4) AS BIGINT)"
        " ELSE CAST(CAST('no address: ' || {0} AS INTEGER) AS BIGINT) END"
    ),
    "ISIPV6STRING(text)": _IS_IPV6,
    "ISIPV4STRING(text)": _IS_IPV4,
    "AND(value, ...)": _chain(exp.and_),
    "OR(value, ...)": _chain(exp.or_),
    "XOR(value, ...)": _odd,
    "NOT(value)": lambda args: exp.Not(this=truth(args[0])),
    "EQUALS(a, b)": _binary(exp.EQ),
    "NOTEQUALS(a, b)": _binary(exp.NEQ),
    "LESS(a, b)": _binary(exp.LT),
    "LESSOREQUALS(a, b)": _binary(exp.LTE),
    "GREATER(a, b)": _binary(exp.GT),
    "GREATEROREQUALS(a, b)": _binary(exp.GTE),
    "ISNOTDISTINCTFROM(a, b)": "{0} IS NOT DISTINCT FROM {1}",
    "ISDISTINCTFROM(a, b)": "{0} IS DISTINCT FROM {1}",
    "ISZEROORNULL(value)": "coalesce({0} = 0, true)",
    "IF(test, yes, no)": _if,
    "MULTIIF(test, value, ...)": _multi_if,
    "CASEWITHEXPRESSION(value, test, then, ...)": _case,
    "TRANSFORM(value, sources, targets, other?)": _transformed,
    "THROWIF(test)": lambda args: sql(
        "CASE WHEN {0} THEN CAST('throwIf' AS INTEGER) ELSE 0 END", [truth(args[0])]
    ),
    "THROWIF(test, message)": lambda args: sql(
        "CASE WHEN {0} THEN CAST({1} AS INTEGER) ELSE 0 END", [truth(args[0]), args[1]]
    ),
    "FORMATREADABLESIZE(bytes)": _readable(1024, ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")),
    "FORMATREADABLEDECIMALSIZE(bytes)": _readable(1000, ("B", "KB", "MB", "GB", "TB", "PB", "EB")),
    "FORMATREADABLEQUANTITY(number)": _readable(
        1000, ("", "thousand", "million", "billion", "trillion", "quadrillion")
    ),
    "FORMATREADABLETIMEDELTA(seconds)": _delta(),
    "CLAMP(value, low, high)": "greatest({1}, least({2}, {0}))",
}
