"""The one door from the tokens of statements to sqlglot's trees.

What is too much is refused before the parser runs. What the parser refuses is a syntax error with its place.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.tokens import Token

from planner.errors import InvalidSyntax, SqlTooDeep
from planner.parsing.clauses import check_order
from planner.parsing.dialect_parsers import trees_of
from planner.parsing.digits import check_digits
from planner.parsing.hints import check_hints
from planner.parsing.namespace import DEFAULT, Namespace
from planner.parsing.nesting import check_nesting
from planner.parsing.stream_clauses import check_streams
from planner.parsing.syntax_errors import PARSER_FAULTS, syntax_error


def checked_trees(
    tokens: Sequence[Token], text: str, dialect: str, names: Namespace = DEFAULT
) -> list[exp.Expression]:
    """The trees of the statements that these tokens of a text form, without empty ones, with the types that
    `names` has. Raises InvalidSyntax for what cannot be read, and PlanningLimit for what is nested too deeply
    or has too long a number."""
    check_nesting(tokens)
    check_digits(tokens)
    check_hints(tokens, text)
    check_streams(tokens)
    try:
        found = trees_of(list(tokens), text, dialect, names)
    except ParseError as error:
        raise syntax_error(error, tokens) from None
    except RecursionError:
        raise SqlTooDeep.of("the statement").at(*_start(tokens)) from None
    except (SqlglotError, *PARSER_FAULTS) as error:
        raise InvalidSyntax("the statement cannot be read").at(*_start(tokens)) from error
    check_order(tokens, dialect)
    return [tree for tree in found if isinstance(tree, exp.Expression)]


def _start(tokens: Sequence[Token]) -> tuple[int, int]:
    return (tokens[0].line, tokens[0].col - (tokens[0].end - tokens[0].start)) if tokens else (1, 1)
