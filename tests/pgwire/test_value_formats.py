"""Values of every type in both formats: as PostgreSQL itself writes and reads them, and back again."""

from __future__ import annotations

from typing import Any

import pytest

from engine.errors import InvalidValue
from service.pgformats.value_formats import reader, writer
from service.pgformats.wire_types import BINARY, BY_OID, TEXT, WireType
from tests.postgres.server import Server

CASES = {
    16: ["true", "false"],
    17: ["", "\\x00ff41", "abc\\\\d"],
    20: ["0", "-9223372036854775807", "9223372036854775807"],
    21: ["-32768", "32767"],
    23: ["-2147483648", "7"],
    25: ["", "x", "NULL", "é\U0001f600\n\t\\ \"quoted\" 'single'"],
    114: ["null", '{"a": [1, null, "x"]}', "[]"],
    700: [
        "0", "-1.5", "1e20", "0.0001", "0.00001", "123456", "1234567", "16777216", "NaN",
        "-Infinity", "3.4e38",
    ],
    701: [
        "0", "-0", "1", "1.5", "0.1", "1e14", "1e15", "123456789012345", "1234567890123456", "1e-4",
        "1e-5", "1.7976931348623157e308", "5e-324", "NaN", "Infinity", "-Infinity", "100", "2.5e-10",
    ],
    1082: [
        "2000-01-01", "1969-12-31", "9999-12-31", "12345-06-07", "0001-01-01", "0044-03-15 BC", "infinity",
        "-infinity",
    ],
    1083: ["00:00:00", "23:59:59.999999", "01:02:03.5", "12:00:00.000010"],
    1114: [
        "2000-01-01 00:00:00", "1969-12-31 23:59:59.999999", "2024-02-29 01:02:03.5",
        "0044-03-15 01:02:03 BC",
        "12345-06-07 08:09:10", "infinity", "-infinity", "1970-01-01 00:00:00",
    ],
    1184: ["2000-01-01 00:00:00+00", "2024-02-29 01:02:03.25+02", "0044-03-15 01:02:03+00 BC", "infinity"],
    1186: [
        "0", "1 year 2 mons 3 days 04:05:06.7", "-1 year -2 mons +3 days -04:05:06.7", "1 mon -1 day",
        "-3 days", "00:00:00.000001", "100:00:00", "-00:00:01", "1 day 00:00:01", "P1Y2M3DT4H5M6S", "2 weeks",
        "1 day ago",
    ],
    1266: [
        "00:00:00+00", "23:59:59.999999-15:59:59", "12:00:00.5+05:30", "24:00:00+00", "01:02:03-00:00:01",
    ],
    1562: ["1", "0", "101", "10000000", "000000001", "1111111111111111"],
    1560: ["1", "0"],
    1700: [
        "0", "0.00", "1", "-1.50", "12345678.9012", "10000", "0.0001", "0.00010", "1000000.5", "-0.5",
        "100000000", "99999999999999999999999999999999999999",
    ],
    2950: ["00000000-0000-0000-0000-000000000000", "12345678-9abc-def0-1234-56789abcdef0"],
    1000: ["{t,f,NULL}", "{}"],
    1007: ["{1,2,NULL}", "{}", "{{1,2},{3,4}}"],
    1009: ['{a,"b c",NULL,"NULL","","q\\"\\\\","{}","x,y"}', "{}", "{{a,b},{c,d}}", "{ a , b }"],
    1016: ["{9223372036854775807}"],
    1231: ["{1.50,NULL,-2}"],
    1182: ["{2000-01-01,NULL}"],
    1185: ['{"2000-01-01 00:00:00+00"}'],
    1270: ["{12:00:00+02,NULL}"],
    1563: ["{101,NULL,0}"],
    2951: ["{12345678-9abc-def0-1234-56789abcdef0}"],
    1001: ['{"\\\\x00ff"}'],
}  # fmt: skip
"""Texts of values, by the OID of their type."""


def both(server: Server, oid: int, texts: list[str]) -> list[tuple[bytes, bytes]]:
    """Each value as PostgreSQL writes it, in text and in binary."""
    name = BY_OID[oid].name
    found = []
    with server.connect() as connection:
        for text in texts:
            parts = []
            for form in (TEXT, BINARY):
                asked = connection.pgconn.exec_params(
                    f"SELECT $1::{name}".encode(), [text.encode()], result_format=form
                )
                assert asked.ntuples == 1, asked.error_message
                parts.append(asked.get_value(0, 0))
            found.append((parts[0], parts[1]))
    return found


@pytest.mark.parametrize("oid", CASES)
def test_values_are_as_postgresql_has_them(postgres: Server, oid: int) -> None:
    type = BY_OID[oid]
    for given, (text, binary) in zip(CASES[oid], both(postgres, oid, CASES[oid]), strict=True):
        value = reader(type, TEXT)(given.encode())
        assert writer(type, TEXT)(value) == text, given
        assert writer(type, BINARY)(value) == binary, given
        assert equal(reader(type, TEXT)(text), value), given
        assert writer(type, TEXT)(reader(type, BINARY)(binary)) == text, given


def equal(left: Any, right: Any) -> bool:
    return left == right or (left != left and right != right)


@pytest.mark.parametrize(
    ("oid", "text"),
    [
        (16, "maybe"), (17, "\\x0"), (17, "\\8"), (20, "1.5"), (20, "9223372036854775808"), (21, "40000"),
        (23, "1_0"), (701, "x"), (701, "1_0"), (1700, "sNaN"), (1700, "1_0"), (1082, "2023-02-29"),
        (1082, "x"), (1083, "25:00"), (1114, "2024-01-01 25:00:00"), (1184, "yesterday"),
        (1186, "1 lightyear"), (1186, ""), (1007, "{1"), (1007, "1}"), (1007, "{1,}"), (1007, "{x}"),
        (1007, "{{1}"), (1007, "{1}{2}"), (1009, '{"a}'), (25, "a\0b"),
    ],
)  # fmt: skip
def test_a_wrong_text_is_refused(oid: int, text: str) -> None:
    with pytest.raises(InvalidValue):
        reader(BY_OID[oid], TEXT)(text.encode())


@pytest.mark.parametrize(
    "type", [it for it in BY_OID.values() if it.size != -1 or it.element], ids=lambda it: it.name
)
def test_a_wrong_binary_is_refused(type: WireType) -> None:
    if type.name in ("char", "name", "unknown"):
        return
    for data in (b"", b"\1", b"\0" * 7, b"\xff" * 21):
        if len(data) != type.size:
            with pytest.raises(InvalidValue):
                reader(type, BINARY)(data)


@pytest.mark.parametrize(
    "data",
    [
        b"\0\0\0\1\0\0\0\0\0\0\0\x17\x7f\xff\xff\xff\0\0\0\1",
        b"\0\0\0\7\0\0\0\0\0\0\0\x17",
        b"\0\0\0\1\0\0\0\0\0\0\0\x17\0\0\0\1\0\0\0\1\0\0\0\x50\0",
        b"\0\0\0\2\0\0\0\0\0\0\0\x17\0\0\0\1\0\0\0\1\0\0\0\0\0\0\0\1",
    ],
)
def test_a_binary_array_cannot_lie_about_its_size(data: bytes) -> None:
    with pytest.raises(InvalidValue):
        reader(BY_OID[1007], BINARY)(data)
