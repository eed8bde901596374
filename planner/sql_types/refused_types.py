"""What to write instead of a type that is not supported, in the words of the dialect."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from planner.suggestions import did_you_mean

_AS_TEXTS = (
    "CIDR CITEXT FIXEDSTRING GEOGRAPHY GEOMETRY INET IPV4 IPV6 LSEG MACADDR MACADDR8 NAME NCLOB POINT "
    "TSQUERY TSVECTOR XML"
)
_INSTEAD = {
    "MONEY": "NUMERIC(19, 4)",
    "SMALLMONEY": "NUMERIC(10, 4)",
    "BIGNUMERIC": "NUMERIC(38, 9)",
    "DECFLOAT": "NUMERIC(38, 9)",
    "UINT128": "NUMERIC(38, 0)",
    "UINT256": "NUMERIC(38, 0)",
    "INT256": "NUMERIC(38, 0)",
    "UHUGEINT": "NUMERIC(38, 0)",
    "VARINT": "NUMERIC(38, 0)",
    "BIGNUM": "NUMERIC(38, 0)",
    "OID": "BIGINT",
    "YEAR": "SMALLINT",
    "SMALLDATETIME": "TIMESTAMP",
    "TIMESTAMP_NS": "TIMESTAMP",
    "TIMESTAMP_MS": "TIMESTAMP",
    "TIMESTAMP_S": "TIMESTAMP",
    "HSTORE": "JSON",
    "RAW": "BYTEA",
    "ROWVERSION": "BYTEA",
    "SET": "TEXT[]",
    **dict.fromkeys(_AS_TEXTS.split(), "TEXT"),
}
_OTHERWISE = {
    "BIT": "write BIT without a length in the dialect duckdb, or BOOLEAN if there is one bit",
    "VARBIT": "write BIT VARYING in the dialect postgres, or BIT in duckdb",
}


def instead(written: str, dialect: str, names: Iterable[str], supported: str) -> str:
    """The hint for a type: another that keeps its values, a name that resembles it, or what there is."""
    word = written.upper().split("(")[0].split("<")[0].split(" ")[0].strip('"')
    if word in _OTHERWISE:
        return _OTHERWISE[word]
    if word in _INSTEAD:
        return f"write {exp.DataType.build(_INSTEAD[word], dialect='postgres').sql(dialect)}"
    return did_you_mean(written, names, supported)
