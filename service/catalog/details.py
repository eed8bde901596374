"""Details of a definition: what the catalog keeps besides its columns or its query, as JSON and back.

A table has rules, a view has the relations as it sees them, and both have comments and indexes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from planner.relation import Watermark
from planner.rewriting.open_pivots import PivotLists
from planner.statements.breach import Breach
from planner.statements.indexes import SecondaryIndex
from planner.statements.table_rules import (
    NO_RULES,
    Action,
    Check,
    Constraint,
    ForeignKey,
    Identity,
    TableRules,
    Text,
    Unique,
)


@dataclass(frozen=True)
class Seen:
    """A relation as a view sees it: its current name, and its columns by the names that the view uses.

    A view keeps the names and columns that existed when it was made, whatever they are called now and
    whatever was added since. `rows` is the approximate row count of that time, None if it was small, so
    that the view is planned again as it was then.
    """

    relation: str
    columns: Mapping[str, str]
    rows: int | None = None

    def renamed_column(self, old: str, new: str) -> Seen:
        return replace(self, columns={seen: new if now == old else now for seen, now in self.columns.items()})


@dataclass(frozen=True)
class FormerQuery:
    """The query that a view had before epoch `until`; no text if it cannot be told any more."""

    until: int
    sql: str = ""
    dialect: str = ""
    sees: Mapping[str, Seen] = field(default_factory=dict)
    named: bool = False
    lists: PivotLists = ()


@dataclass(frozen=True)
class Details:
    """`comments` by column, the relation's own under the empty name; `sees` by the name in the query.

    `named` says that columns of a view without a name have PostgreSQL's; older views keep theirs. `breach` is
    that of a view which is an assertion. `former` has the queries of before a view was replaced, in order,
    and `once_null` the columns that may be NULL in their rows. `lists` are the values that the query of a
    view leaves to the data, as they are now.
    """

    rules: TableRules = NO_RULES
    comments: Mapping[str, str] = field(default_factory=dict)
    sees: Mapping[str, Seen] = field(default_factory=dict)
    named: bool = False
    indexes: tuple[SecondaryIndex, ...] = ()
    breach: Breach | None = None
    former: tuple[FormerQuery, ...] = ()
    once_null: tuple[str, ...] = ()
    lists: PivotLists = ()

    def seeing(self, change: Callable[[Seen], Seen]) -> Details:
        """The details of a view that sees changed relations, and did so before."""
        former = tuple(replace(query, sees=_changed(query.sees, change)) for query in self.former)
        return replace(self, sees=_changed(self.sees, change), former=former)

    def without_past_in(self, relations: Collection[str]) -> Details:
        """The details of a view whose former queries cannot read these relations any more."""
        former = tuple(
            FormerQuery(query.until) if any(it.relation in relations for it in query.sees.values()) else query
            for query in self.former
        )
        return replace(self, former=former)

    def commented(self, column: str, text: str | None) -> Details:
        """Sets the comment on a column, or on the relation (the empty name). None removes it."""
        kept = {name: comment for name, comment in self.comments.items() if name != column}
        return replace(self, comments=kept if text is None else {**kept, column: text})

    def following(self, old: Details, names: Collection[str]) -> Details:
        """The details of a view in the place of another, with columns of these names: its comments, and its
        indexes as far as they have their columns."""
        indexes = tuple(index for index in old.indexes if set(index.all) <= set(names))
        return replace(self, comments=old.comments, indexes=indexes)


def _changed(sees: Mapping[str, Seen], change: Callable[[Seen], Seen]) -> dict[str, Seen]:
    return {name: change(seen) for name, seen in sees.items()}


NO_DETAILS = Details()


def dump_details(details: Details) -> str | None:
    """The details as JSON; None if they are empty."""
    if details == NO_DETAILS:
        return None
    rules = details.rules
    document = {
        "defaults": {name: _text(text) for name, text in rules.defaults.items()},
        "generated": {name: _text(text) for name, text in rules.generated.items()},
        "identities": {name: _identity(i) for name, i in rules.identities.items()},
        "constraints": [_constraint(constraint) for constraint in rules.constraints],
        "required": rules.required,
        "append_only": rules.append_only,
        "watermark": rules.watermark and [rules.watermark.column, rules.watermark.delay],
        "valid_time": rules.valid_time,
        "comments": dict(details.comments),
        "sees": _dump_sees(details.sees),
        "named": details.named,
        "breach": details.breach,
        "indexes": [[index.name, index.columns, index.included] for index in details.indexes],
        "former": [_dump_former(it) for it in details.former],
        "once_null": details.once_null,
        "lists": details.lists,
    }
    return orjson.dumps({name: value for name, value in document.items() if value}).decode()


def load_details(text: str | None) -> Details:
    if text is None:
        return NO_DETAILS
    document = orjson.loads(text)
    rules = TableRules(
        {name: Text(*written) for name, written in document.get("defaults", {}).items()},
        {name: Text(*written) for name, written in document.get("generated", {}).items()},
        {name: Identity(*written) for name, written in document.get("identities", {}).items()},
        tuple(map(_of_document, document.get("constraints", ()))),
        tuple(document.get("required", ())),
        document.get("append_only", False),
        Watermark(*document["watermark"]) if "watermark" in document else None,
        document.get("valid_time", False),
    )
    sees = _load_sees(document.get("sees", {}))
    former = (
        FormerQuery(until, sql, dialect, _load_sees(seen), named, *map(_load_lists, lists))
        for until, sql, dialect, seen, named, *lists in document.get("former", ())
    )
    indexes = (SecondaryIndex(name, tuple(of), tuple(more)) for name, of, more in document.get("indexes", ()))
    breach = Breach(document["breach"]) if "breach" in document else None
    comments, named = document.get("comments", {}), document.get("named", False)
    once_null = tuple(document.get("once_null", ()))
    lists = _load_lists(document.get("lists", ()))
    return Details(rules, comments, sees, named, tuple(indexes), breach, tuple(former), once_null, lists)


def _dump_former(it: FormerQuery) -> list[object]:
    """Only a query that leaves values to the data has lists of them."""
    lists = [it.lists] if it.lists else []
    return [it.until, it.sql, it.dialect, _dump_sees(it.sees), it.named, *lists]


def _load_lists(document: Iterable[Iterable[str]]) -> PivotLists:
    return tuple(tuple(values) for values in document)


def _dump_sees(sees: Mapping[str, Seen]) -> dict[str, list[object]]:
    return {name: [seen.relation, dict(seen.columns), seen.rows] for name, seen in sees.items()}


def _load_sees(document: Mapping[str, list[Any]]) -> dict[str, Seen]:
    return {name: Seen(*seen) for name, seen in document.items()}


def _identity(identity: Identity) -> list[object]:
    """Only what differs from an identity that counts 1, 2, 3, ... follows its counter."""
    more = [identity.start, identity.increment, identity.sequence]
    return [identity.always, identity.number, *(more if more != [1, 1, None] else ())]


def _text(text: Text) -> list[str]:
    return [text.sql, text.dialect]


def _constraint(constraint: Constraint) -> dict[str, Any]:
    match constraint:
        case Check(name=name, condition=condition):
            return {"check": _text(condition), "name": name}
        case Unique(name=name, columns=columns):
            return {"unique": columns, "name": name}
    return {
        "foreign": constraint.columns,
        "name": constraint.name,
        "table": constraint.table,
        "target": constraint.target,
        "on_delete": constraint.on_delete.value,
        **({} if constraint.on_update is Action.NOTHING else {"on_update": constraint.on_update.value}),
    }


def _of_document(document: dict[str, Any]) -> Constraint:
    name = document["name"]
    if "check" in document:
        return Check(name, Text(*document["check"]))
    if "unique" in document:
        return Unique(name, tuple(document["unique"]))
    columns, target = tuple(document["foreign"]), tuple(document["target"])
    actions = (Action(document["on_delete"]), Action(document.get("on_update", Action.NOTHING.value)))
    return ForeignKey(name, columns, document["table"], target, *actions)
