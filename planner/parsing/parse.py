"""SQL text to sqlglot's trees, including WITH MUTUALLY RECURSIVE and hints; errors have places."""

from __future__ import annotations

import re

from sqlglot import Dialect, exp
from sqlglot.errors import ParseError, SqlglotError, TokenError

from planner.dialects.as_written import remember_dialect
from planner.errors import InvalidSyntax, SqlTooDeep, as_fact
from planner.limits import check_text
from planner.parsing import arrows, mutually
from planner.parsing import hints as priority
from planner.parsing.clauses import check_order
from planner.parsing.column_names import POSTGRES, with_named_columns
from planner.parsing.dialect_parsers import trees_of
from planner.parsing.digits import check_digits
from planner.parsing.long_names import with_short_names
from planner.parsing.namespace import DEFAULT, Namespace
from planner.parsing.nesting import check_nesting
from planner.parsing.qualified_columns import without_schemas
from planner.positions import remember

_PARSER_FAULTS = (AttributeError, IndexError, KeyError, TypeError, ValueError)
"""Errors of sqlglot's parser, besides its own classes, for some texts that are not SQL."""


def parse_statements(
    sql: str, dialect: str = "postgres", names: Namespace = DEFAULT, named: bool = False
) -> list[exp.Expression]:
    """The statements of a script, in order, without empty ones. Raises InvalidSyntax for unreadable text, and
    PlanningLimit for a text that is too long or nested too deeply. With `named`, columns without a name have
    PostgreSQL's, in its dialect."""
    check_text(sql)
    try:
        text, declarations = mutually.blank_declarations(priority.comment_hints(sql, dialect), dialect)
        tokens = Dialect.get_or_raise(dialect).tokenize(text)
        if named and dialect == POSTGRES:
            tokens = with_short_names(tokens)
        check_nesting(tokens)
        check_digits(tokens)
        trees = trees_of(tokens, text, dialect)
        found = [arrows.restore(tree, dialect) for tree in trees if isinstance(tree, exp.Expression)]
        if named and dialect == POSTGRES:
            found = [with_named_columns(tree, text) for tree in found]
        check_order(tokens, dialect)
        for tree in found:
            priority.mark_hints(tree, sql, dialect)
    except ParseError as error:
        raise _located(error) from None
    except TokenError as error:
        raise InvalidSyntax(f"the text cannot be read: {error}") from None
    except RecursionError:
        raise SqlTooDeep.of() from None
    except (SqlglotError, *_PARSER_FAULTS) as error:
        raise InvalidSyntax(f"the text cannot be read: {error}") from None
    for tree in found:
        mutually.mark_declarations(tree, declarations)
        remember(tree, text, dialect)
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


def _located(error: ParseError) -> InvalidSyntax:
    details = error.errors[0] if error.errors else {}
    message = _cleaned(str(details.get("description") or error))
    near = details.get("highlight")
    if near:
        message = f"{message}, near {near!r}"
    line, end = details.get("line"), details.get("col")
    column = end - max(len(near) - 1, 0) if end is not None and near else end
    return InvalidSyntax(message, line=line, column=column)


def _cleaned(message: str) -> str:
    """sqlglot's message as a lowercase fact, without the names of its classes."""
    message = re.split(r" but got <| for <class| missing for <", message.strip())[0].rstrip(".")
    missing = re.match(r"Required keyword: '(\w+)'", message)
    if missing:
        message = (
            "an expression is missing" if missing[1] in ("expression", "this") else f"{missing[1]} is missing"
        )
    return as_fact(message)
