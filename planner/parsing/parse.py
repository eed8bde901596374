"""SQL text to sqlglot's trees, including WITH MUTUALLY RECURSIVE and hints; errors have places."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import SqlglotError, TokenError

from planner.dialects.as_written import remember_dialect
from planner.errors import InvalidSyntax
from planner.limits import check_text
from planner.parsing.checked_trees import checked_trees
from planner.parsing.column_names import NAMED, with_named_columns
from planner.parsing.dialect_parsers import read_trees
from planner.parsing.long_names import with_short_names
from planner.parsing.named_dialects import dialect_called
from planner.parsing.namespace import DEFAULT, Namespace, Types
from planner.parsing.qualified_columns import without_schemas
from planner.parsing.rewritten_text import Replaced
from planner.parsing.syntax_errors import PARSER_FAULTS, unreadable
from planner.positions import remember


def parse_statements(
    sql: str, dialect: str = "postgres", names: Namespace = DEFAULT, named: bool = False
) -> list[exp.Expression]:
    """The statements of a script, in order, without empty ones. Raises InvalidSyntax for unreadable text, and
    PlanningLimit for a text that is too long or nested too deeply. With `named`, columns without a name have
    PostgreSQL's, in its dialect."""
    check_text(sql)
    try:
        tokens = dialect_called(dialect).tokenize(sql)
    except TokenError as error:
        raise unreadable(error, sql) from None
    except PARSER_FAULTS as error:  # of halves of characters, among others
        raise InvalidSyntax(f"the text cannot be read: {error}") from None
    named = named and dialect in NAMED
    found = checked_trees(with_short_names(tokens) if named else tokens, sql, dialect, names)
    if named:
        found = [with_named_columns(tree, sql) for tree in found]
    for tree in found:
        remember(tree, sql, dialect)
        remember_dialect(tree, dialect)
        names.qualify(tree)
        without_schemas(tree)
    return [tree for tree in found if not isinstance(tree, exp.Semicolon)]


def parse_query(
    sql: str, dialect: str = "postgres", names: Namespace = DEFAULT, named: bool = False
) -> exp.Expression:
    """The one statement of `sql`. Raises InvalidSyntax if there is none or more than one."""
    statements = parse_statements(sql, dialect, names, named)
    if len(statements) != 1:
        raise InvalidSyntax(f"one query is expected, not {len(statements)}")
    return statements[0]


def parse_type(text: str, dialect: str, types: Types) -> exp.DataType:
    """The type that a text is, in a dialect and as we call types. Raises InvalidSyntax for any other text,
    also if more follows than a type."""
    check_text(text)
    try:
        tokens = dialect_called(dialect).tokenize(text)
        (tree,) = read_trees(tokens, text, dialect, Namespace(types=types), is_type=True)[0]
    except (SqlglotError, RecursionError, ValueError, *PARSER_FAULTS):
        tree = None
    if not isinstance(tree, exp.DataType):
        raise InvalidSyntax(f"{text!r} is not a type")
    return tree


def spelled_names(text: str, dialect: str, names: Namespace) -> list[Replaced]:
    """What takes the places of the names of types and of the calls of functions in a text, in order; nothing
    if it cannot be read, as whoever reads it will say. Raises a PlannerError for a wrong call."""
    functions = names.functions_called
    if not names.types and (functions is None or not functions.are_named(text)):
        return []
    try:
        return read_trees(dialect_called(dialect).tokenize(text), text, dialect, names)[1]
    except (SqlglotError, RecursionError, *PARSER_FAULTS):
        return []
