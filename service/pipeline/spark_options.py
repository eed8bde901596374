"""Options of Spark's readers and writers that a client may set, by format.

These options change how bytes are read or written. None of them names another path, a class to load, or a
policy for bad records, which loads have themselves. The defaults follow the service's other formats: CSV
doubles quotes and tells an empty text from NULL, moments have microseconds, nothing is trimmed.
"""

from __future__ import annotations

from collections.abc import Mapping

from service.errors import Invalid

Value = str | int | float | bool
_TIMES = {"timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss[.SSSSSS]", "dateFormat": "yyyy-MM-dd"}

READING: Mapping[str, frozenset[str]] = {
    "parquet": frozenset({"mergeSchema", "datetimeRebaseMode", "int96RebaseMode"}),
    "orc": frozenset({"mergeSchema"}),
    "csv": frozenset(
        {
            "sep",
            "header",
            "quote",
            "escape",
            "comment",
            "nullValue",
            "encoding",
            "multiLine",
            "lineSep",
            "ignoreLeadingWhiteSpace",
            "ignoreTrailingWhiteSpace",
            "maxColumns",
            "maxCharsPerColumn",
        }
    ),
    "json": frozenset(
        {
            "multiLine",
            "lineSep",
            "encoding",
            "samplingRatio",
            "allowComments",
            "allowUnquotedFieldNames",
            "allowSingleQuotes",
            "allowNumericLeadingZeros",
            "allowNonNumericNumbers",
        }
    ),
    "text": frozenset({"wholetext", "lineSep"}),
    "jdbc": frozenset(
        {
            "url",
            "dbtable",
            "query",
            "user",
            "password",
            "partitionColumn",
            "lowerBound",
            "upperBound",
            "numPartitions",
            "fetchsize",
            "queryTimeout",
        }
    ),
}
WRITING: Mapping[str, frozenset[str]] = {
    "parquet": frozenset({"compression"}),
    "orc": frozenset({"compression"}),
    "csv": frozenset(
        {"compression", "sep", "header", "quote", "escape", "nullValue", "quoteAll", "encoding", "lineSep"}
    ),
    "json": frozenset({"compression", "ignoreNullFields", "encoding", "lineSep"}),
}
_READ: Mapping[str, Mapping[str, str]] = {
    # Without mergeSchema, a column that only some files have is lost.
    "parquet": {
        "datetimeRebaseMode": "CORRECTED",
        "int96RebaseMode": "CORRECTED",
        "mergeSchema": "true",
    },
    "csv": {"header": "true", "quote": '"', "escape": '"', "nullValue": "\0"},
}
_WRITTEN: Mapping[str, Mapping[str, str]] = {
    "csv": {
        "header": "true",
        "quote": '"',
        "escape": '"',
        "ignoreLeadingWhiteSpace": "false",
        "ignoreTrailingWhiteSpace": "false",
        **_TIMES,
    },
    "json": {"ignoreNullFields": "false", **_TIMES},
}
SECRETS = frozenset({"password"})
"""Options that are never shown."""


def reader_options(format: str, given: Mapping[str, Value]) -> dict[str, str]:
    """The options of a reader. Invalid names one that a client may not set."""
    return {**_READ.get(format, {}), **_checked(format, READING[format], given)}


def writer_options(format: str, given: Mapping[str, Value]) -> dict[str, str]:
    """The options of a writer. Invalid names one that a client may not set."""
    return {**_WRITTEN.get(format, {}), **_checked(format, WRITING[format], given)}


def without_secrets(options: Mapping[str, Value]) -> dict[str, Value]:
    """The options with secrets replaced by asterisks."""
    return {name: "***" if name.lower() in SECRETS else value for name, value in options.items()}


def _checked(format: str, allowed: frozenset[str], given: Mapping[str, Value]) -> dict[str, str]:
    """The options with Spark's spelling of their names, in which it ignores case. Raises Invalid."""
    names = {name.lower(): name for name in allowed}
    options = {}
    for name, value in given.items():
        known = names.get(name.lower())
        if known is None:
            raise Invalid(
                f"format {format} has no option {name}",
                f"it has {', '.join(sorted(allowed))}",
                code="invalid_option",
            )
        options[known] = str(value).lower() if isinstance(value, bool) else str(value)
    return options
