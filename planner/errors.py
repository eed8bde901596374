"""The errors that the planner raises.

    PlannerError
    ├── InvalidSyntax      the text cannot be parsed
    ├── UnknownTable       no table, view or CTE has this name
    ├── UnknownColumn      no visible column has this name
    ├── UnknownFunction    no function has this name
    ├── AmbiguousColumn    several visible columns have this name
    ├── TypeMismatch       an expression's types do not fit
    │   └── UnsettledTypes   those of a recursion
    ├── InvalidQuery       the names and types are right, the query is not
    ├── Unsupported        valid SQL that cannot be maintained (yet)
    │   └── UnsupportedType  no column can have an expression's type
    └── PlanningLimit      planning exceeds a limit
        ├── SqlTooLarge      of bytes of text
        ├── SqlTooDeep       of levels of nesting
        ├── TooManyColumns   of columns
        ├── TooManyRelations of relations
        ├── ConstantTooLarge of the size of a constant
        └── PlanningTimeout  of seconds

Every error has a stable `code`, a `message` that is a lowercase fact, a `hint` that may be empty, and the
`line` and `column` (both from 1) in the user's text if they are known.
"""

from __future__ import annotations

_LONGEST = 2_000  # characters of a message, which quotes the text


class PlannerError(Exception):
    code = "planner_error"

    def __init__(
        self, message: str, hint: str = "", line: int | None = None, column: int | None = None
    ) -> None:
        super().__init__(message)
        self.message = message if len(message) <= _LONGEST else f"{message[:_LONGEST]}..."
        self.hint = hint
        self.line = line
        self.column = column

    def at(self, line: int | None, column: int | None) -> PlannerError:
        """The same error with this place, unless it has a place already."""
        if self.line is None:
            self.line, self.column = line, column
        return self


class InvalidSyntax(PlannerError):
    code = "syntax_error"

    @classmethod
    def of_escape(cls) -> InvalidSyntax:
        """The error of a text with a Unicode escape that is half a character."""
        return cls("a Unicode escape is not a character", "write both halves of a surrogate pair")


class UnknownTable(PlannerError):
    code = "unknown_table"


class UnknownColumn(PlannerError):
    code = "unknown_column"


class UnknownFunction(PlannerError):
    code = "unknown_function"


class AmbiguousColumn(PlannerError):
    code = "ambiguous_column"


class TypeMismatch(PlannerError):
    code = "type_mismatch"


class UnsettledTypes(TypeMismatch):
    """The rows of a recursion have no types that hold all of them."""


class InvalidQuery(PlannerError):
    code = "invalid_query"


class Unsupported(PlannerError):
    code = "unsupported_sql"


class UnsupportedType(Unsupported):
    pass


class PlanningLimit(PlannerError):
    code = "planning_limit"


class SqlTooLarge(PlanningLimit):
    code = "sql_too_large"


class SqlTooDeep(PlanningLimit):
    code = "sql_too_deep"

    @classmethod
    def of(cls, what: str = "the query") -> SqlTooDeep:
        """The error of a text that nests deeper than the planner can follow."""
        return cls(f"{what} is nested too deeply", "move parts of it into CTEs or views")


class TooManyColumns(PlanningLimit):
    code = "too_many_columns"


class TooManyRelations(PlanningLimit):
    code = "too_many_relations"


class ConstantTooLarge(PlanningLimit):
    code = "constant_too_large"


class PlanningTimeout(PlanningLimit):
    code = "planning_timeout"


def as_fact(message: str) -> str:
    """A library's message as ours begin: with a small letter, unless a keyword comes first."""
    return message if message[1:2].isupper() else message[:1].lower() + message[1:]
