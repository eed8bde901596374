"""SQL text to sqlglot's trees, including WITH MUTUALLY RECURSIVE and hints; errors have places."""

from __future__ import annotations

from sqlglot import Dialect, exp
from sqlglot.errors import ParseError, SqlglotError, TokenError
from sqlglot.tokens import Token

from planner.dialects.as_written import remember_dialect
from planner.errors import InvalidSyntax, SqlTooDeep
from planner.limits import check_text
from planner.parsing import arrows
from planner.parsing.clauses import check_order
from planner.parsing.column_names import POSTGRES, with_named_columns
from planner.parsing.dialect_parsers import trees_of
from planner.parsing.digits import check_digits
from planner.parsing.hints import check_hints
from planner.parsing.long_names import with_short_names
from planner.parsing.namespace import DEFAULT, Namespace
from planner.parsing.nesting import check_nesting
from planner.parsing.qualified_columns import without_schemas
from planner.parsing.syntax_errors import PARSER_FAULTS, syntax_error
from planner.positions import remember


def parse_statements(
    sql: str, dialect: str = "postgres", names: Namespace = DEFAULT, named: bool = False
) -> list[exp.Expression]:
    """The statements of a script, in order, without empty ones. Raises InvalidSyntax for unreadable text, and
    PlanningLimit for a text that is too long or nested too deeply. With `named`, columns without a name have
    PostgreSQL's, in its dialect."""
    check_text(sql)
    tokens: list[Token] = []
    try:
        tokens = Dialect.get_or_raise(dialect).tokenize(sql)
        if named and dialect == POSTGRES:
            tokens = with_short_names(tokens)
        check_nesting(tokens)
        check_digits(tokens)
        check_hints(tokens, sql)
        trees = trees_of(tokens, sql, dialect)
        found = [arrows.restore(tree, dialect) for tree in trees if isinstance(tree, exp.Expression)]
        if named and dialect == POSTGRES:
            found = [with_named_columns(tree, sql) for tree in found]
        check_order(tokens, dialect)
    except ParseError as error:
        raise syntax_error(error, tokens) from None
    except TokenError as error:
        raise InvalidSyntax(f"the text cannot be read: {error}") from None
    except RecursionError:
        raise SqlTooDeep.of() from None
    except (SqlglotError, *PARSER_FAULTS) as error:
        raise InvalidSyntax(f"the text cannot be read: {error}") from None
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
