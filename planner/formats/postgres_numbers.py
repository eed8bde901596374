"""PostgreSQL's formats of numbers: to_char(-125.8, '999D99S') and to_number('12,454.8-', '99G999D9S').

A format has places of digits, 9 and 0; a point, commas; S, MI, PL, SG and PR for the sign; V, which moves the
point; TH for the ending of an ordinal number. FM omits blanks. RN writes Roman numerals. Text before and
after the number stays as it is, in quotes or not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlglot import exp

from planner.formats.number_parts import NUMBERS, fraction, grouped, roman
from planner.formats.write_formats import template_constant
from planner.native.templates import sql, whole
from planner.positions import refuse

_TEXT = r"(?:\"(?:[^\"\\]|\\.)*\"|[^\w.,\"])"
_SHAPE = re.compile(
    rf"(?P<fm>FM)?(?P<prefix>{_TEXT}*)(?P<fm2>FM)?(?P<lead>MI|PL|SG|S)?(?P<before>[90,G]*)"
    rf"(?:(?P<point>[.D])(?P<behind>[90]*)|V(?P<moved>9+))?(?P<trail>MI|PL|SG|PR|S)?(?P<ordinal>TH)?"
    rf"(?P<suffix>{_TEXT}*)",
    re.IGNORECASE,
)
_ROMAN = re.compile(r"(FM)?(RN|rn)")
_MOST = 10
_DIGITS_OF_FLOATS = {"DOUBLE": 15, "FLOAT": 6}
_SHAPE_HINT = "known are 9, 0 and . , D G V S MI PL SG PR TH RN FM"


@dataclass(frozen=True)
class _Format:
    """`before` has the places in front of the point, with commas; `behind` those after it, None without a
    point. `moved` is the number of places behind V.

    `lead` and `trail` are the signs in front of the digits and behind them; `prefix` and `suffix` are texts
    around the number, and `ordinal` is TH as it is written.
    """

    fills: bool
    lead: str
    trail: str
    before: str
    behind: str | None
    moved: int
    ordinal: str
    prefix: str
    suffix: str


def is_number_format(form: exp.Expression) -> bool:
    """Whether a format is one of numbers: it has places of digits, and nothing of moments."""
    if not isinstance(form, exp.Literal):
        return False
    return bool(_ROMAN.fullmatch(form.name)) or _read(form.name) is not None


def number_text(value: exp.Expression, form: exp.Expression) -> exp.Expression:
    """to_char of a number."""
    if numeral := _ROMAN.fullmatch(form.name):
        written = roman(fills=not numeral[1])
        return whole(written if numeral[2] == "RN" else f"lower({written})", value, kinds=NUMBERS)
    return whole(_template(_known(form)), value, kinds=NUMBERS)


def number_of(value: exp.Expression, form: exp.Expression) -> exp.Expression:
    """to_number of a text that is written as the format says; any other text fails."""
    read = _known(form)
    if read.prefix or read.suffix or read.ordinal or read.moved or read.trail == "PR":
        refuse(form, "this format is not supported in to_number", "known are 9, 0 and . , D G S MI")
    digits = len(read.behind or "")
    sign = "[-+]?" if read.trail else ""
    lead = "" if read.trail else "[-+]?"
    shape = rf"\s*{lead}{_digit_shape(read.before)}([.][0-9]{{0,{digits}}})?{sign}\s*"
    plain = "replace(trim({0}), ',', '')"
    plain = f"CASE WHEN right({plain}, 1) = '-' THEN '-' ELSE '' END || rtrim({plain}, '-+')"
    checked = f"CASE WHEN regexp_full_match({{0}}, {{1}}) THEN {plain} ELSE 'not a number: ' || {{0}} END"
    return sql(f"CAST({checked} AS DECIMAL(38, {digits}))", [value, exp.Literal.string(shape)])


def _digit_shape(before: str) -> str:
    """A pattern of the digits before the point, with all of their commas or none."""
    first, *groups = before.split(",")
    count = len(before.replace(",", ""))
    if not groups:
        return f"[0-9]{{0,{count}}}"
    commas = "".join(f",[0-9]{{{len(group)}}}" for group in groups)
    return f"([0-9]{{0,{count}}}|[0-9]{{1,{len(first)}}}{commas})"


def _known(form: exp.Expression) -> _Format:
    read = _read(form.name) if isinstance(form, exp.Literal) else None
    if read is None:
        name = form.name if isinstance(form, exp.Literal) else form.sql()
        refuse(form, f"the format {name!r} of a number is not supported", _SHAPE_HINT)
    return read


def _read(form: str) -> _Format | None:
    """The format that a text spells; None for any other text, as for a format of moments."""
    found = _SHAPE.fullmatch(form)
    if found is None:
        return None
    parts = {name: part or "" for name, part in found.groupdict().items()}
    before, behind = parts["before"].upper().replace("G", ","), parts["behind"]
    signs, moved = parts["lead"] + parts["trail"], parts["moved"]
    is_odd = (parts["lead"] and parts["trail"]) or (moved and signs.upper() == "S")
    if not before or before.strip(",") != before or len(behind) > _MOST or is_odd:
        return None
    if parts["point"] and not behind:
        return None
    return _Format(
        not (parts["fm"] or parts["fm2"]),
        parts["lead"].upper(),
        parts["trail"].upper(),
        before,
        behind if parts["point"] else None,
        len(moved),
        parts["ordinal"],
        *(re.sub(r'"((?:[^"\\]|\\.)*)"', _unquoted, parts[text]) for text in ("prefix", "suffix")),
    )


def _unquoted(text: re.Match[str]) -> str:
    return re.sub(r"\\(.)", r"\1", text[1])


def _template(form: _Format) -> str:
    """The text of `{0}`. `x` has the digits of the rounded number, with a minus if it is below zero."""
    places, digits = form.before.replace(",", "") + "9" * form.moved, len(form.behind or "")
    count = len(places)
    minus, number = "starts_with(x, '-')", "ltrim(split_part(x, '.', 1), '-')"
    is_long = f"length({number}) > {count}"
    shown = number
    if digits and "0" not in places:
        is_kept = form.fills or "0" in (form.behind or "")
        lone = "''" if is_kept else "CASE WHEN rtrim(split_part(x, '.', 2), '0') = '' THEN '0' ELSE '' END"
        shown = f"CASE WHEN {number} = '0' THEN {lone} ELSE {number} END"
    least = count - places.index("0") if "0" in places else 0
    filled = f"lpad({shown}, CAST(greatest({least}, length({shown})) AS INTEGER), '0')"
    filled = f"CASE WHEN {is_long} THEN '{'#' * count}' ELSE {filled} END"
    behind = fraction(form.behind, form.fills)
    if digits:
        signs = "'.' || repeat('#', length(split_part(x, '.', 2)))"
        behind = f" || CASE WHEN {is_long} THEN {signs} ELSE ''{behind} END"
    body = grouped(filled, form.before + "9" * form.moved)
    text = _signed(f"({body})", behind, form, minus)
    if form.ordinal:
        text += f" || CASE WHEN {minus} OR {is_long} THEN '' ELSE {_ending(form, number)} END"
    around = f"{template_constant(form.prefix)} || {text} || {template_constant(form.suffix)}"
    return f"list_transform([{_digits(form)}], lambda x: {around})[1]"


def _signed(body: str, behind: str, form: _Format, minus: str) -> str:
    """The digits with their sign, as wide as the format."""
    width = len(form.before) + form.moved
    blank = " " if form.fills else ""
    sign = f"CASE WHEN {minus} THEN '-' ELSE '+' END"
    own = {"MI": f"CASE WHEN {minus} THEN '-' ELSE '{blank}' END", "SG": sign, "S": sign}
    own["PL"] = f"CASE WHEN {minus} THEN '{blank}' ELSE '+' END"

    def filled(text: str, wide: int) -> str:
        return f"lpad({text}, {wide}, ' ')" if form.fills and wide else f"({text})"

    match form.lead or form.trail:
        case "S" if form.lead:
            return filled(f"{sign} || {body}", width + 1) + behind
        case "S" | "MI" | "SG" as mark:
            digits = filled(body, width) + behind
            return f"{own[mark]} || {digits}" if form.lead else f"{digits} || {own[mark]}"
        case "PR":
            plain = filled(f"'{blank}' || {body}", width + 1) + behind
            angled = filled(f"'<' || {body}", width + 1) + behind
            return f"CASE WHEN {minus} THEN {angled} || '>' ELSE {plain} || '{blank}' END"
    anchored = filled(f"CASE WHEN {minus} THEN '-' ELSE '{blank}' END || {body}", width + 1) + behind
    if form.lead == "PL":
        return f"{own['PL']} || {anchored}"
    return f"{anchored} || {own['PL']}" if form.trail == "PL" else anchored


def _ending(form: _Format, number: str) -> str:
    """The ending of an ordinal number: st, nd, rd or th. A number with a point has none."""
    if form.behind is not None:
        return "''"
    teens = f"right({number}, 2) IN ('11', '12', '13')"
    endings = " ".join(f"WHEN '{last}' THEN '{end}'" for last, end in (("1", "st"), ("2", "nd"), ("3", "rd")))
    ending = f"CASE WHEN {teens} THEN 'th' ELSE CASE right({number}, 1) {endings} ELSE 'th' END END"
    return f"upper({ending})" if form.ordinal.isupper() else ending


def _digits(form: _Format) -> str:
    """The digits of the rounded number. A float has no more of them than its type is sure of."""
    digits = len(form.behind or "")
    moved = f" * {10**form.moved}" if form.moved else ""
    kinds = " ".join(
        f"WHEN '{kind}' THEN {_float_digits(f'CAST(CAST({{0}} AS DOUBLE){moved} AS {kind})', form, sure)}"
        for kind, sure in _DIGITS_OF_FLOATS.items()
    )
    exact = f"CAST(CAST(round({{0}}{moved}, {digits}) AS DECIMAL(38, {digits})) AS VARCHAR)"
    return f"CASE typeof({{0}}) {kinds} ELSE {exact} END"


def _float_digits(number: str, form: _Format, sure: int) -> str:
    """The same of a float. Behind fewer digits than the format has, PostgreSQL writes nothing more."""
    digits = len(form.behind or "")
    is_last = not (form.suffix or form.trail or form.ordinal)
    written = {fewer: f"format('{{:.{fewer}f}}', y)" for fewer in range(digits + 1)}
    fewer = " ".join(
        f"WHEN {sure - least} THEN {text if is_last else _failing('too many digits')}"
        for least, text in written.items()
        if least < digits
    )
    length = "length(ltrim(format('{:.0f}', y), '-'))"
    cases = f"CASE least({length}, {sure}) {fewer} ELSE {written[digits]} END" if fewer else written[0]
    finite = f"CASE WHEN isfinite(y) THEN {cases} ELSE {_failing('no digits')} END"
    return f"list_transform([{number}], lambda y: CASE WHEN y IS NOT NULL THEN {finite} END)[1]"


def _failing(what: str) -> str:
    return f"CAST(CAST('{what}: ' || CAST(y AS VARCHAR) AS INTEGER) AS VARCHAR)"
