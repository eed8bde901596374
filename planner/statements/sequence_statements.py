"""CREATE and ALTER SEQUENCE, and the options by which identity columns count."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot.tokens import TokenType

from planner.errors import InvalidQuery
from planner.parsing.script import Piece
from planner.statements.sequences import LARGEST, SMALLEST, Counting
from planner.statements.statements import Statement
from planner.statements.word_reader import WordReader

_FORM = (
    "CREATE SEQUENCE [IF NOT EXISTS] name [AS type] [INCREMENT BY n] [MINVALUE n] [MAXVALUE n] "
    "[START WITH n] [CYCLE]"
)
_RANGES = {
    **dict.fromkeys(("SMALLINT", "INT2"), 2**15 - 1),
    **dict.fromkeys(("INTEGER", "INT", "INT4"), 2**31 - 1),
    **dict.fromkeys(("BIGINT", "INT8"), LARGEST),
}


@dataclass(frozen=True)
class CreateSequence(Statement):
    name: str
    counting: Counting
    if_not_exists: bool


@dataclass(frozen=True)
class AlterSequence(Statement):
    """With `restarts`, the sequence goes on with `number`, by default with its first; without, nothing
    changes."""

    name: str
    restarts: bool
    number: int | None
    if_exists: bool


@dataclass
class _Options:
    start: int | None = None
    increment: int = 1
    minimum: int | None = None
    maximum: int | None = None
    cycles: bool = False
    largest: int = LARGEST

    def counting(self, piece: Piece) -> Counting:
        """Raises InvalidQuery for options that do not fit together."""
        up = self.increment > 0
        smallest = SMALLEST if self.largest == LARGEST else -self.largest - 1
        low = self.minimum if self.minimum is not None else (1 if up else smallest)
        high = self.maximum if self.maximum is not None else (self.largest if up else -1)
        start = self.start if self.start is not None else (low if up else high)
        place = piece.place()
        if self.increment == 0:
            raise InvalidQuery("INCREMENT must not be zero").at(*place)
        if low >= high:
            raise InvalidQuery(f"MINVALUE {low} must be less than MAXVALUE {high}").at(*place)
        if not low <= start <= high:
            raise InvalidQuery(f"START {start} is not between {low} and {high}").at(*place)
        return Counting(start, self.increment, low, high, self.cycles)


def create_sequence(piece: Piece) -> CreateSequence:
    reader = WordReader(piece, 1, _FORM)
    if reader.skip("TEMP") or reader.skip("TEMPORARY"):
        raise piece.unsupported("a temporary sequence is not supported", "leave the word out", 1)
    reader.expect("SEQUENCE")
    if_not_exists = reader.skip("IF", "NOT", "EXISTS")
    name = reader.made()
    options = _Options()
    _read(reader, options)
    return CreateSequence(piece, name, options.counting(piece), if_not_exists)


def alter_sequence(piece: Piece) -> AlterSequence:
    """ALTER SEQUENCE name RESTART [WITH n] [OWNED BY ...]."""
    reader = WordReader(piece, 2, "write ALTER SEQUENCE [IF EXISTS] name RESTART [WITH n]")
    if_exists = reader.skip("IF", "EXISTS")
    name = reader.existing()
    restart: int | None = None
    has_restart = False
    while not reader.is_done:
        if reader.skip("OWNED", "BY"):
            _owner(reader)
        elif reader.skip("RESTART"):
            has_restart = True
            reader.skip("WITH")
            restart = None if reader.is_done or not _is_number(reader) else _number(reader)
        else:
            raise piece.unsupported(
                f"ALTER SEQUENCE ... {reader.word} is not supported",
                "drop the sequence, and create it with other options",
                reader.at,
            )
    return AlterSequence(piece, name, has_restart, restart, if_exists)


def _read(reader: WordReader, options: _Options) -> None:
    while not reader.is_done:
        if reader.skip("AS"):
            largest = _RANGES.get(reader.word)
            if largest is None:
                raise reader.failure("a sequence is SMALLINT, INTEGER or BIGINT")
            options.largest = largest
            reader.at += 1
        elif reader.skip("INCREMENT"):
            reader.skip("BY")
            options.increment = _number(reader)
        elif reader.skip("MINVALUE"):
            options.minimum = _number(reader)
        elif reader.skip("MAXVALUE"):
            options.maximum = _number(reader)
        elif reader.skip("START"):
            reader.skip("WITH")
            options.start = _number(reader)
        elif reader.skip("CACHE"):
            _number(reader)  # sequences reserve numbers as they need them
        elif reader.skip("CYCLE"):
            options.cycles = True
        elif reader.skip("OWNED", "BY"):
            _owner(reader)
        elif reader.skip("NO"):
            if not (reader.skip("CYCLE") or reader.skip("MINVALUE") or reader.skip("MAXVALUE")):
                raise reader.failure("CYCLE, MINVALUE or MAXVALUE is expected")
        else:
            reader.end()


def _owner(reader: WordReader) -> None:
    """Passes the owner of a sequence, which means nothing: nothing is dropped with its owner."""
    if not reader.skip("NONE"):
        reader.name()
        while reader.skip("."):
            reader.name()


def _is_number(reader: WordReader) -> bool:
    token = reader.piece.tokens[reader.at]
    return token.token_type == TokenType.NUMBER or token.text in ("-", "+")


def _number(reader: WordReader) -> int:
    negative = reader.skip("-")
    reader.skip("+")
    token = None if reader.is_done else reader.piece.tokens[reader.at]
    if token is None or token.token_type != TokenType.NUMBER or not token.text.isdigit():
        raise reader.failure("a whole number is expected")
    number = int(token.text) * (-1 if negative else 1)
    if not SMALLEST <= number <= LARGEST:
        raise reader.failure(f"{number} is not a BIGINT")
    reader.at += 1
    return number
