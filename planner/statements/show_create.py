"""SHOW CREATE: statements, in PostgreSQL's dialect, that create the objects as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from engine.schema import Column, Kind, Schema, Type
from planner.native.reference import quoted
from planner.relation_names import PUBLIC, split_name
from planner.rewriting.valid_times import FROM, TO
from planner.statements.breach import Breach
from planner.statements.table_rules import (
    Check,
    Constraint,
    ForeignKey,
    Identity,
    TableRules,
    Text,
    Unique,
    is_of_period,
)


def table_text(
    name: str, schema: Schema, key: Sequence[str] | None, rules: TableRules, comments: Mapping[str, str]
) -> str:
    """CREATE TABLE, and COMMENT ON for each comment (the table's own has the empty name)."""
    implied = (FROM, TO) if rules.valid_time else ()
    parts = [_column(column, rules) for column in schema.columns if column.name not in implied]
    if key is not None:
        parts.append(f"PRIMARY KEY ({identifiers([name for name in key if name not in implied])})")
    shown = (c for c in rules.constraints if not (rules.valid_time and is_of_period(c)))
    parts += [f"CONSTRAINT {identifier(c.name)} {constraint_text(c)}" for c in shown]
    if rules.watermark is not None:
        at, span = identifier(rules.watermark.column), f"{rules.watermark.delay / 1_000_000:f}".rstrip("0")
        parts.append(f"WATERMARK FOR {at} AS {at} - INTERVAL '{span.rstrip('.')} seconds'")
    parts += ["PERIOD VALID_TIME"] if rules.valid_time else []
    body = ",\n  ".join(parts)
    more = " APPEND ONLY" if rules.append_only else ""
    return f"CREATE TABLE {relation_text(name)} (\n  {body}\n){more}" + _comments("TABLE", name, comments)


def view_text(name: str, columns: Sequence[str] | None, sql: str, comments: Mapping[str, str]) -> str:
    """CREATE VIEW with its query as it was written."""
    named = "" if columns is None else f" ({identifiers(columns)})"
    return f"CREATE VIEW {relation_text(name)}{named} AS\n{sql}" + _comments("VIEW", name, comments)


def assertion_text(name: str, sql: str, breach: Breach, comments: Mapping[str, str]) -> str:
    """CREATE ASSERTION with the query of the rows that break it."""
    more = " WITH (WARN)" if breach is Breach.WARN else ""
    text = f"CREATE ASSERTION {relation_text(name)} CHECK (NOT EXISTS (\n{sql}\n)){more}"
    return text + _comments("VIEW", name, comments)


def constraint_text(constraint: Constraint) -> str:
    """The constraint's definition, without its name."""
    match constraint:
        case Check(condition=condition):
            return f"CHECK ({_expression(condition)})"
        case Unique(columns=columns):
            return f"UNIQUE ({identifiers(columns)})"
        case ForeignKey(columns=columns, table=table, target=target):
            to = f"{relation_text(table)} ({identifiers(target)})"
            return f"FOREIGN KEY ({identifiers(columns)}) REFERENCES {to}{constraint.actions}"


def identifier(name: str) -> str:
    """A name in SQL, quoted if necessary."""
    return exp.to_identifier(name, quoted=not name.isidentifier() or name != name.lower()).sql("postgres")


def relation_text(full: str) -> str:
    """The full name of a table or view in SQL, without the schema `public`."""
    schema, name = split_name(full)
    return identifier(name) if schema == PUBLIC else f"{identifier(schema)}.{identifier(name)}"


def identifiers(names: Sequence[str]) -> str:
    return ", ".join(map(identifier, names))


def _column(column: Column, rules: TableRules) -> str:
    parts = [identifier(column.name), _written(column.type)]
    if column.name in rules.generated:
        parts.append(f"GENERATED ALWAYS AS ({_expression(rules.generated[column.name])}) STORED")
    if column.name in rules.identities:
        parts.append(_identity(rules.identities[column.name]))
    if column.name in rules.defaults:
        parts.append(f"DEFAULT {_expression(rules.defaults[column.name])}")
    if not column.nullable:
        parts.append("NOT NULL")
    return " ".join(parts)


def _identity(identity: Identity) -> str:
    if identity.sequence is not None:
        return f"DEFAULT nextval({quoted(relation_text(identity.sequence))})"
    counting = [
        *([f"START WITH {identity.start}"] if identity.start != 1 else []),
        *([f"INCREMENT BY {identity.increment}"] if identity.increment != 1 else []),
    ]
    options = f" ({' '.join(counting)})" if counting else ""
    return f"GENERATED {'ALWAYS' if identity.always else 'BY DEFAULT'} AS IDENTITY{options}"


def _expression(text: Text) -> str:
    return text.tree().sql("postgres")


def _comments(kind: str, name: str, comments: Mapping[str, str]) -> str:
    found = ""
    for column, text in comments.items():
        on = (
            f"{kind} {relation_text(name)}"
            if not column
            else f"COLUMN {relation_text(name)}.{identifier(column)}"
        )
        found += f";\nCOMMENT ON {on} IS {quoted(text)}"
    return found


def _written(type: Type) -> str:
    """The type as CREATE TABLE takes it: there, BIT alone would have one bit."""
    if type.element is not None:
        return f"{_written(type.element)}[]"
    return "BIT VARYING" if type.kind is Kind.BIT else str(type)
