"""What the parser and the binder ask of a dialect: traits, each with the dialects that have it."""

from __future__ import annotations

_POSTGRES = frozenset({"materialize", "postgres", "redshift", "risingwave"})
_CLICKHOUSE = frozenset({"clickhouse"})
_DUCKDB = frozenset({"duckdb"})
_SPARK = frozenset({"databricks", "hive", "spark", "spark2"})
_APART = frozenset({"athena", "bigquery", "materialize", "postgres", "presto", "risingwave", "trino"})


class Trait:
    """Ways in which dialects differ beyond the meaning of functions, each as the dialects that have it."""

    JOINS_WITHOUT_CONDITION = frozenset(
        {"clickhouse", "databricks", "doris", "hive", "mysql", "singlestore", "snowflake", "spark", "spark2"}
        | {"sqlite", "starrocks"}
    )
    """A JOIN needs neither ON nor USING."""
    ARROWS_ARE_OF_JSON = _POSTGRES | {"mysql", "singlestore", "sqlite"}
    """There are no lambdas: in `f(doc -> 'a')` the arrow is JSON's."""
    CLAUSES_IN_ANY_ORDER = frozenset({"teradata"})
    """GROUP BY may stand before WHERE."""
    MERGES_IN_PLACE = frozenset({"clickhouse", "duckdb", "sqlite"})
    """In `*`, columns that USING and NATURAL merge keep their places in the left table."""
    KEEPS_KINDS_APART = _APART
    """There are no operators between texts or truth values and values of other kinds."""
    READS_NUMERALS = frozenset(
        {"databricks", "mysql", "oracle", "redshift", "snowflake", "spark", "sqlite", "tsql"}
    )
    """A text that is written beside a number is a number, although kinds are not kept apart."""
    READS_NO_NUMERALS = frozenset({"bigquery", "trino"})
    """Kinds are kept apart, and a text that is written beside a number is no number either."""
    TEXTS_BEGIN_NUMBERS = frozenset({"mysql", "sqlite"})
    """A text in the place of a number is the number that it begins with, or 0."""
    COMPARES_TEXTS_AS_NUMBERS = frozenset({"mysql"})
    """So is a text beside a number, in a comparison."""
    MIXED_ARE_TEXTS = frozenset({"mysql"})
    """Of alternatives that are texts and numbers, all are texts."""
    AVERAGES_ARE_WHOLE = frozenset({"flink", "redshift", "tsql"})
    """The average of whole numbers is one, without its fraction."""
    CUTS_FRACTIONS = frozenset({"clickhouse", "databricks", "flink", "spark", "sqlite", "tsql"})
    """A number that is cast to a whole one loses its fraction, and is not rounded."""
    ROUNDS_NO_TEXTS = frozenset(
        {"bigquery", "clickhouse", "databricks", "flink", "spark", "trino", "tsql"} | _POSTGRES
    )
    """A text with a fraction is no whole number."""
    TEXTS_ARE_UNTYPED = _POSTGRES
    """A constant text has the type of what it stands beside, also as an alternative and in set operations."""
    KEEPS_DIGITS = _POSTGRES
    """Decimals with different digits behind the point become ones with all of them."""
    FLOATS_ARE_DOUBLE = frozenset({"fabric", "oracle", "tsql"})
    """FLOAT has double precision, although sqlglot takes it for one of single precision."""
    REALS_ARE_DOUBLE = frozenset({"mysql", "oracle", "snowflake"})
    """So has REAL."""
    SUBSCRIPTS_FAIL = frozenset({"bigquery", "databricks", "spark", "trino"})
    """A subscript beyond its array is an error."""
    DIVIDES_DECIMALS = frozenset({"trino"})
    """A quotient of decimals has as many digits as the longer of the two, and a divisor of zero fails."""
    CASTS_FAIL = frozenset({"spark"})
    """CAST fails where it cannot cast, although sqlglot takes it for one that gives NULL."""
    CASTS_STRUCTS_BY_NAME = frozenset({"duckdb", "snowflake"})
    """A cast of a struct pairs fields by their names; elsewhere their order counts."""
    PERCENTILE_INTERPOLATES = _SPARK | _CLICKHOUSE
    """PERCENTILE of two values may be a value between them."""
    LISTAGG_JOINS_CLOSELY = frozenset({"databricks", "oracle", "redshift", "snowflake", "spark"})
    """LISTAGG has no separator by default."""
    FUNCTIONS_ARE_TABLES = _POSTGRES
    """A function of values may stand in FROM, as a table of one row."""
    QUERIES_ARE_LATERAL = _DUCKDB
    """A query in FROM sees the items on its left."""
    ALIASES_BEFORE_OUTER_COLUMNS = _DUCKDB
    """A name of the select list hides a column of an outer query."""
    ELEMENTS_KEEP_THEIR_NAME = _DUCKDB
    """The column of an unnested list does not take the name of its table."""
    SPREADS_STRUCTS = _APART
    """The fields of an array's structs are columns of UNNEST in FROM."""
    EXPLODES_MAPS = _SPARK
    """A map gives two columns in the select list too."""
    OFFSETS_FROM_ZERO = frozenset({"bigquery"})
    """WITH OFFSET, which counts from 0, stands for WITH ORDINALITY."""
    DIV_GIVES_WHOLE = frozenset({"databricks", "mysql", "spark"})
    """DIV of fractions gives a whole number."""
    ADDS_DAYS = frozenset({"oracle", "tsql"})
    """A number that is added to a moment, or subtracted from one, counts days."""
    ADDS_TEXTS = frozenset({"tsql"})
    """`+` concatenates texts."""
    AVERAGES_PARTS_OF_INTERVALS = _POSTGRES
    """An average of intervals divides their months, days and time one after the other."""
    ROWS_OF_NULLS_ARE_NULL = _POSTGRES
    """A row is NULL if all of its values are, and not NULL if none is."""
    NULL_ARRAYS_ADD_NOTHING = _POSTGRES - {"redshift"}
    """An array that is NULL, concatenated with another one, gives that one."""
    EDITS_DOCUMENTS = _POSTGRES - {"redshift"}
    """`||` and `-` make JSON of JSON."""
    COPIES_WITHOUT_HEADER = _POSTGRES
    """The CSV of COPY has no header, unless the statement says so."""
    ARRAYS_OMIT_NULLS = frozenset({"oracle", "tsql"})
    """JSON_ARRAY leaves out values that are NULL, unless it says NULL ON NULL."""
    WRAPS_DOCUMENTS = frozenset({"oracle"})
    """JSON_QUERY may put what it finds into an array."""
    LIKE_COPIES_RULES = frozenset({"mysql"})
    """CREATE TABLE LIKE copies constraints and defaults too."""
    UNITS_ARE_POSTGRESQLS = _POSTGRES | _DUCKDB
    """Intervals have PostgreSQL's units, and no others."""
    NOTHING_BEFORE_ARRAYS = _POSTGRES - {"redshift"}
    """A subscript below 1 gives NULL; elsewhere it counts from the end."""
    READS_BYTES_AS_POSTGRESQL = _POSTGRES - {"redshift"}
    """Texts spell bytes as in PostgreSQL, and functions of texts take bytes too."""
    WRITES_FLOATS_BRIEFLY = _POSTGRES - {"redshift"}
    """A float that is whole has no point as a text."""
    JOINS_NO_NUMBERS = _POSTGRES - {"redshift"}
    """`||` takes a text, bytes, an array or JSON on one side at least."""
    DOCUMENTS_HAVE_ISO_TIMES = _POSTGRES - {"redshift"}
    """Moments in JSON are written as in ISO 8601, with a T."""
    ARRAYS_HAVE_DIMENSIONS = frozenset({"materialize", "postgres", "risingwave"})
    """An array of arrays is one array of several dimensions: UNNEST and CARDINALITY look at its innermost
    elements."""
    NULL_BY_ZERO = frozenset({"mysql", "sqlite", "hive"})
    """A division by zero gives NULL."""
    DIVISION_BY_ZERO_FAILS = frozenset({"bigquery", "databricks", "oracle", "snowflake", "spark"})
    """`/` never divides as integers, and fails if the divisor is zero."""
    SUBSTRINGS_BEGIN_BEFORE = _POSTGRES | {"tsql"}
    """A negative start of a substring is a place before the text, not one from its end."""
    SUBSTRINGS_FROM_ZERO = frozenset({"bigquery", "databricks", "spark"})
    """A substring from 0 is one from 1."""
    NOTHING_BEFORE_TEXTS = frozenset({"trino"})
    """A substring that begins before the first character, or at 0, is the empty text."""
    ROOTS_FAIL_OUTSIDE = _POSTGRES | {"bigquery", "oracle", "snowflake", "tsql"}
    """A root of a negative number, and a logarithm of zero, are errors."""
    NUMBERS_HAVE_SPECIALS = _POSTGRES - {"redshift"}
    """A NUMERIC may be NaN, Infinity or -Infinity."""
    MOMENTS_AS_POSTGRES = _POSTGRES - {"redshift"}
    """A text that stands for a moment has PostgreSQL's spellings."""
    BACKSLASH_ESCAPES = _POSTGRES | {"bigquery", "clickhouse", "databricks", "mysql", "spark"}
    """A backslash escapes in a pattern of LIKE, unless ESCAPE says otherwise."""
    LIKE_IN_ANY_CASE = frozenset({"mysql", "sqlite", "tsql"})
    """LIKE does not tell cases apart, and compares numbers as texts."""
    LENGTH_IS_OF_CHARACTERS = frozenset({"bigquery", "databricks", "snowflake", "spark", "sqlite", "trino"})
    """LENGTH counts the characters of a text and the bytes of bytes."""
    FORMATS_LIKE_C = _POSTGRES - {"redshift"}
    """FORMAT, parts of intervals and first matches are those of PostgreSQL."""
    CASTS_CUT_TEXTS = _POSTGRES | {"flink", "mysql", "oracle", "trino", "tsql"}
    """A cast to a shorter text cuts it."""
    CASTS_OF_LONG_TEXTS_FAIL = frozenset({"bigquery", "snowflake"})
    """A cast to a text of a length fails for a longer one."""
    JSON_IS_VARIANT = frozenset({"databricks", "redshift", "snowflake", "spark", "trino"})
    """JSON is a variant: a text in it is that text, not its spelling."""
    HAS_WORKING_TABLE = frozenset({"duckdb", "postgres"})
    """We know how the system runs a recursive query, and so do we."""
    COUNTS_TRUTH = _CLICKHOUSE | {"mysql", "sqlite"}
    """A truth value is the number 1 or 0 to an operator."""
    COUNTS_SECONDS = _CLICKHOUSE
    """A number that is added to a moment is one of seconds."""
    ABSENT_IS_DEFAULT = _CLICKHOUSE
    """Columns are NOT NULL unless they are declared otherwise. Where others have NULL for what is absent (a
    row in a join, an element of an array, a key in a map or in a grouping set, rows of an aggregate), there
    is the default of the type: 0 or the empty text."""
    ALIASES_BEFORE_COLUMNS = _CLICKHOUSE
    """A name of the select list hides a column, in the whole query."""
    STEPS_READ_ANYTHING = _DUCKDB
    """The step of a recursive query may be any query, and may read all rows so far by `recurring.name`."""
    SEARCHES_AND_CYCLES = frozenset({"postgres"})
    """A recursive query may have SEARCH and CYCLE."""


def has(dialect: str, trait: frozenset[str]) -> bool:
    """Whether the dialect has the trait."""
    return dialect in trait
