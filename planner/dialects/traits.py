"""What the parser and the binder ask of a dialect: traits, each with the dialects that have it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto

_POSTGRES = frozenset({"materialize", "postgres", "redshift", "risingwave"})


class Trait(Enum):
    """One way in which dialects differ beyond the meaning of functions."""

    JOINS_WITHOUT_CONDITION = auto()
    """A JOIN needs neither ON nor USING."""
    ARROWS_ARE_OF_JSON = auto()
    """There are no lambdas: in `f(doc -> 'a')` the arrow is JSON's."""
    CLAUSES_IN_ANY_ORDER = auto()
    """GROUP BY may stand before WHERE."""
    MERGES_IN_PLACE = auto()
    """In `*`, columns that USING and NATURAL merge keep their places in the left table."""
    KEEPS_KINDS_APART = auto()
    """There are no operators between texts or truth values and values of other kinds."""
    READS_NUMERALS = auto()
    """A text that is written beside a number is a number, although kinds are not kept apart."""
    READS_NO_NUMERALS = auto()
    """Kinds are kept apart, and a text that is written beside a number is no number either."""
    TEXTS_BEGIN_NUMBERS = auto()
    """A text in the place of a number is the number that it begins with, or 0."""
    COMPARES_TEXTS_AS_NUMBERS = auto()
    """So is a text beside a number, in a comparison."""
    MIXED_ARE_TEXTS = auto()
    """Of alternatives that are texts and numbers, all are texts."""
    AVERAGES_ARE_WHOLE = auto()
    """The average of whole numbers is one, without its fraction."""
    CUTS_FRACTIONS = auto()
    """A number that is cast to a whole one loses its fraction, and is not rounded."""
    ROUNDS_NO_TEXTS = auto()
    """A text with a fraction is no whole number."""
    FLOATS_ARE_DOUBLE = auto()
    """FLOAT has double precision, although sqlglot takes it for one of single precision."""
    REALS_ARE_DOUBLE = auto()
    """So has REAL."""
    SUBSCRIPTS_FAIL = auto()
    """A subscript beyond its array is an error."""
    DIVIDES_DECIMALS = auto()
    """A quotient of decimals has as many digits as the longer of the two, and a divisor of zero fails."""
    CASTS_FAIL = auto()
    """CAST fails where it cannot cast, although sqlglot takes it for one that gives NULL."""
    CASTS_STRUCTS_BY_NAME = auto()
    """A cast of a struct pairs fields by their names; elsewhere their order counts."""
    PERCENTILE_INTERPOLATES = auto()
    """PERCENTILE of two values may be a value between them."""
    LISTAGG_JOINS_CLOSELY = auto()
    """LISTAGG has no separator by default."""
    FUNCTIONS_ARE_TABLES = auto()
    """A function of values may stand in FROM, as a table of one row."""
    QUERIES_ARE_LATERAL = auto()
    """A query in FROM sees the items on its left."""
    ALIASES_BEFORE_OUTER_COLUMNS = auto()
    """A name of the select list hides a column of an outer query."""
    ELEMENTS_KEEP_THEIR_NAME = auto()
    """The column of an unnested list does not take the name of its table."""
    SPREADS_STRUCTS = auto()
    """The fields of an array's structs are columns of UNNEST in FROM."""
    EXPLODES_MAPS = auto()
    """A map gives two columns in the select list too."""
    OFFSETS_FROM_ZERO = auto()
    """WITH OFFSET, which counts from 0, stands for WITH ORDINALITY."""
    DIV_GIVES_WHOLE = auto()
    """DIV of fractions gives a whole number."""
    ADDS_DAYS = auto()
    """A number that is added to a moment, or subtracted from one, counts days."""
    ADDS_TEXTS = auto()
    """`+` concatenates texts."""
    AVERAGES_PARTS_OF_INTERVALS = auto()
    """An average of intervals divides their months, days and time one after the other."""
    ROWS_OF_NULLS_ARE_NULL = auto()
    """A row is NULL if all of its values are, and not NULL if none is."""
    NULL_ARRAYS_ADD_NOTHING = auto()
    """An array that is NULL, concatenated with another one, gives that one."""
    EDITS_DOCUMENTS = auto()
    """`||` and `-` make JSON of JSON."""
    COPIES_WITHOUT_HEADER = auto()
    """The CSV of COPY has no header, unless the statement says so."""
    ARRAYS_OMIT_NULLS = auto()
    """JSON_ARRAY leaves out values that are NULL, unless it says NULL ON NULL."""
    WRAPS_DOCUMENTS = auto()
    """JSON_QUERY may put what it finds into an array."""
    LIKE_COPIES_RULES = auto()
    """CREATE TABLE LIKE copies constraints and defaults too."""
    UNITS_ARE_POSTGRESQLS = auto()
    """Intervals have PostgreSQL's units, and no others."""
    NOTHING_BEFORE_ARRAYS = auto()
    """A subscript below 1 gives NULL; elsewhere it counts from the end."""
    READS_BYTES_AS_POSTGRESQL = auto()
    """Texts spell bytes as in PostgreSQL, and functions of texts take bytes too."""
    WRITES_FLOATS_BRIEFLY = auto()
    """A float that is whole has no point as a text."""
    JOINS_NO_NUMBERS = auto()
    """`||` takes a text, bytes, an array or JSON on one side at least."""
    DOCUMENTS_HAVE_ISO_TIMES = auto()
    """Moments in JSON are written as in ISO 8601, with a T."""
    ARRAYS_HAVE_DIMENSIONS = auto()
    """An array of arrays is one array of several dimensions: UNNEST and CARDINALITY look at its innermost
    elements."""
    NULL_BY_ZERO = auto()
    """A division by zero gives NULL."""
    DIVISION_BY_ZERO_FAILS = auto()
    """`/` never divides as integers, and fails if the divisor is zero."""
    SUBSTRINGS_BEGIN_BEFORE = auto()
    """A negative start of a substring is a place before the text, not one from its end."""
    SUBSTRINGS_FROM_ZERO = auto()
    """A substring from 0 is one from 1."""
    NOTHING_BEFORE_TEXTS = auto()
    """A substring that begins before the first character, or at 0, is the empty text."""
    ROOTS_FAIL_OUTSIDE = auto()
    """A root of a negative number, and a logarithm of zero, are errors."""
    NUMBERS_HAVE_SPECIALS = auto()
    """A NUMERIC may be NaN, Infinity or -Infinity."""
    BACKSLASH_ESCAPES = auto()
    """A backslash escapes in a pattern of LIKE, unless ESCAPE says otherwise."""
    LIKE_IN_ANY_CASE = auto()
    """LIKE does not tell cases apart, and compares numbers as texts."""
    LENGTH_IS_OF_CHARACTERS = auto()
    """LENGTH counts the characters of a text and the bytes of bytes."""
    FORMATS_LIKE_C = auto()
    """FORMAT, parts of intervals and first matches are those of PostgreSQL."""
    CASTS_CUT_TEXTS = auto()
    """A cast to a shorter text cuts it."""
    CASTS_OF_LONG_TEXTS_FAIL = auto()
    """A cast to a text of a length fails for a longer one."""
    JSON_IS_VARIANT = auto()
    """JSON is a variant: a text in it is that text, not its spelling."""
    HAS_WORKING_TABLE = auto()
    """We know how the system runs a recursive query, and so do we."""
    COUNTS_TRUTH = auto()
    """A truth value is the number 1 or 0 to an operator."""
    COUNTS_SECONDS = auto()
    """A number that is added to a moment is one of seconds."""
    ABSENT_IS_DEFAULT = auto()
    """Columns are NOT NULL unless they are declared otherwise. Where others have NULL for what is absent (a
    row in a join, an element of an array, a key in a map or in a grouping set, rows of an aggregate), there
    is the default of the type: 0 or the empty text."""
    ALIASES_BEFORE_COLUMNS = auto()
    """A name of the select list hides a column, in the whole query."""
    STEPS_READ_ANYTHING = auto()
    """The step of a recursive query may be any query, and may read all rows so far by `recurring.name`."""
    SEARCHES_AND_CYCLES = auto()
    """A recursive query may have SEARCH and CYCLE."""


_CLICKHOUSE = frozenset({"clickhouse"})
_DUCKDB = frozenset({"duckdb"})
_SPARK = frozenset({"databricks", "hive", "spark", "spark2"})
_APART = frozenset({"athena", "bigquery", "materialize", "postgres", "presto", "risingwave", "trino"})
_DIALECTS: Mapping[Trait, frozenset[str]] = {
    Trait.JOINS_WITHOUT_CONDITION: frozenset(
        {"clickhouse", "databricks", "doris", "hive", "mysql", "singlestore", "snowflake", "spark", "spark2"}
        | {"sqlite", "starrocks"}
    ),
    Trait.ARROWS_ARE_OF_JSON: _POSTGRES | {"mysql", "singlestore", "sqlite"},
    Trait.CLAUSES_IN_ANY_ORDER: frozenset({"teradata"}),
    Trait.MERGES_IN_PLACE: frozenset({"clickhouse", "duckdb", "sqlite"}),
    Trait.KEEPS_KINDS_APART: _APART,
    Trait.READS_NUMERALS: frozenset(
        {"databricks", "mysql", "oracle", "redshift", "snowflake", "spark", "sqlite", "tsql"}
    ),
    Trait.READS_NO_NUMERALS: frozenset({"bigquery", "trino"}),
    Trait.TEXTS_BEGIN_NUMBERS: frozenset({"mysql", "sqlite"}),
    Trait.COMPARES_TEXTS_AS_NUMBERS: frozenset({"mysql"}),
    Trait.MIXED_ARE_TEXTS: frozenset({"mysql"}),
    Trait.AVERAGES_ARE_WHOLE: frozenset({"flink", "redshift", "tsql"}),
    Trait.CUTS_FRACTIONS: frozenset({"clickhouse", "databricks", "flink", "spark", "sqlite", "tsql"}),
    Trait.ROUNDS_NO_TEXTS: frozenset(
        {"bigquery", "clickhouse", "databricks", "flink", "spark", "trino", "tsql"} | _POSTGRES
    ),
    Trait.FLOATS_ARE_DOUBLE: frozenset({"fabric", "oracle", "tsql"}),
    Trait.REALS_ARE_DOUBLE: frozenset({"mysql", "oracle", "snowflake"}),
    Trait.SUBSCRIPTS_FAIL: frozenset({"bigquery", "databricks", "spark", "trino"}),
    Trait.DIVIDES_DECIMALS: frozenset({"trino"}),
    Trait.CASTS_FAIL: frozenset({"spark"}),
    Trait.CASTS_STRUCTS_BY_NAME: frozenset({"duckdb", "snowflake"}),
    Trait.PERCENTILE_INTERPOLATES: _SPARK | _CLICKHOUSE,
    Trait.LISTAGG_JOINS_CLOSELY: frozenset({"databricks", "oracle", "redshift", "snowflake", "spark"}),
    Trait.FUNCTIONS_ARE_TABLES: _POSTGRES,
    Trait.QUERIES_ARE_LATERAL: _DUCKDB,
    Trait.ALIASES_BEFORE_OUTER_COLUMNS: _DUCKDB,
    Trait.ELEMENTS_KEEP_THEIR_NAME: _DUCKDB,
    Trait.SPREADS_STRUCTS: _APART,
    Trait.EXPLODES_MAPS: _SPARK,
    Trait.OFFSETS_FROM_ZERO: frozenset({"bigquery"}),
    Trait.DIV_GIVES_WHOLE: frozenset({"databricks", "mysql", "spark"}),
    Trait.ADDS_DAYS: frozenset({"oracle", "tsql"}),
    Trait.ADDS_TEXTS: frozenset({"tsql"}),
    Trait.AVERAGES_PARTS_OF_INTERVALS: _POSTGRES,
    Trait.ROWS_OF_NULLS_ARE_NULL: _POSTGRES,
    Trait.NULL_ARRAYS_ADD_NOTHING: _POSTGRES - {"redshift"},
    Trait.EDITS_DOCUMENTS: _POSTGRES - {"redshift"},
    Trait.COPIES_WITHOUT_HEADER: _POSTGRES,
    Trait.ARRAYS_OMIT_NULLS: frozenset({"oracle", "tsql"}),
    Trait.WRAPS_DOCUMENTS: frozenset({"oracle"}),
    Trait.LIKE_COPIES_RULES: frozenset({"mysql"}),
    Trait.UNITS_ARE_POSTGRESQLS: _POSTGRES | _DUCKDB,
    Trait.NOTHING_BEFORE_ARRAYS: _POSTGRES - {"redshift"},
    Trait.READS_BYTES_AS_POSTGRESQL: _POSTGRES - {"redshift"},
    Trait.WRITES_FLOATS_BRIEFLY: _POSTGRES - {"redshift"},
    Trait.JOINS_NO_NUMBERS: _POSTGRES - {"redshift"},
    Trait.DOCUMENTS_HAVE_ISO_TIMES: _POSTGRES - {"redshift"},
    Trait.ARRAYS_HAVE_DIMENSIONS: frozenset({"materialize", "postgres", "risingwave"}),
    Trait.NULL_BY_ZERO: frozenset({"mysql", "sqlite", "hive"}),
    Trait.DIVISION_BY_ZERO_FAILS: frozenset({"bigquery", "databricks", "oracle", "snowflake", "spark"}),
    Trait.SUBSTRINGS_BEGIN_BEFORE: _POSTGRES | {"tsql"},
    Trait.SUBSTRINGS_FROM_ZERO: frozenset({"bigquery", "databricks", "spark"}),
    Trait.NOTHING_BEFORE_TEXTS: frozenset({"trino"}),
    Trait.ROOTS_FAIL_OUTSIDE: _POSTGRES | {"bigquery", "oracle", "snowflake", "tsql"},
    Trait.NUMBERS_HAVE_SPECIALS: _POSTGRES - {"redshift"},
    Trait.BACKSLASH_ESCAPES: _POSTGRES | {"bigquery", "clickhouse", "databricks", "mysql", "spark"},
    Trait.LIKE_IN_ANY_CASE: frozenset({"mysql", "sqlite", "tsql"}),
    Trait.LENGTH_IS_OF_CHARACTERS: frozenset(
        {"bigquery", "databricks", "snowflake", "spark", "sqlite", "trino"}
    ),
    Trait.FORMATS_LIKE_C: _POSTGRES - {"redshift"},
    Trait.CASTS_CUT_TEXTS: _POSTGRES | {"flink", "mysql", "oracle", "trino", "tsql"},
    Trait.CASTS_OF_LONG_TEXTS_FAIL: frozenset({"bigquery", "snowflake"}),
    Trait.JSON_IS_VARIANT: frozenset({"databricks", "redshift", "snowflake", "spark", "trino"}),
    Trait.HAS_WORKING_TABLE: frozenset({"duckdb", "postgres"}),
    Trait.COUNTS_TRUTH: _CLICKHOUSE | {"mysql", "sqlite"},
    Trait.COUNTS_SECONDS: _CLICKHOUSE,
    Trait.ABSENT_IS_DEFAULT: _CLICKHOUSE,
    Trait.ALIASES_BEFORE_COLUMNS: _CLICKHOUSE,
    Trait.STEPS_READ_ANYTHING: _DUCKDB,
    Trait.SEARCHES_AND_CYCLES: frozenset({"postgres"}),
}


def has(dialect: str, trait: Trait) -> bool:
    """Whether the dialect has the trait."""
    return dialect in _DIALECTS[trait]
