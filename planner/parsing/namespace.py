"""What names without a schema mean: the first schema of the search path that has the name.

Names are resolved once, right after parsing. From then on a name without a schema is one of `public`, and any
other has its schema before it, so whatever is kept (a view's query, a foreign key) means the same for ever.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from engine.schema import Type
from planner.errors import InvalidQuery
from planner.identifiers import fold, relation_name
from planner.parsing.found_calls import KnownFunctions
from planner.parsing.table_references import table_nodes
from planner.positions import fail
from planner.relation_names import PUBLIC, full_name, schema_of

SearchPath = tuple[str, ...]
Types = Mapping[str, Type]
"""By full name."""
DEFAULT_PATH: SearchPath = (PUBLIC,)
_ADDED = "added_schema"
_SYSTEM = "pg_catalog"


@dataclass(frozen=True)
class Namespace:
    """`path` has schemas in the order of the search, `schemas` those that exist, `relations` the full names
    of the tables and views that may be meant, `functions` those of the functions, and `types` the types that
    have names. The parser replaces calls of `functions_called`. `temporary` is the schema of the session's
    temporary tables, which is searched first; None if it has none."""

    path: SearchPath = DEFAULT_PATH
    schemas: Collection[str] = field(default=DEFAULT_PATH, compare=False)
    relations: Collection[str] = field(default=(), compare=False)
    types: Types = field(default_factory=dict, compare=False)
    temporary: str | None = None
    functions: Collection[str] = field(default=(), compare=False)
    functions_called: KnownFunctions | None = field(default=None, compare=False)

    @property
    def is_default(self) -> bool:
        """Whether names without a schema are those of `public`, whatever exists."""
        return self.path == DEFAULT_PATH and self.temporary is None

    def meant(self, name: str, among: Collection[str]) -> str:
        """The full name that `name` stands for: the first of the path that is `among` full names.

        PostgreSQL's catalogs come before all. A name that no schema has is one of `public`, or of the path's
        first schema if `public` is not in it.
        """
        system = full_name(_SYSTEM, name)
        if system in among:
            return system
        names = [full_name(schema, name) for schema in self.path]
        otherwise = full_name(PUBLIC, name) if PUBLIC in self.path or not names else names[0]
        if self.temporary is not None:
            names.insert(0, full_name(self.temporary, name))
        return next((full for full in names if full in among), otherwise)

    def made(self, name: str) -> str:
        """The full name of what is created as `name`. Raises InvalidQuery if no schema of the path exists."""
        schema = next((schema for schema in self.path if schema in self.schemas), None)
        if schema is None:
            raise InvalidQuery(
                f"no schema of the search path exists, so {name} has no place",
                "write its schema before it, or change search_path",
            )
        return full_name(schema, name)

    def qualify(self, tree: exp.Expression) -> None:
        """Puts the schema before each name of a statement that means a relation outside of `public`."""
        for node, full in self._resolved(tree):
            _set_schema(node, full)

    def _resolved(self, tree: exp.Expression) -> Iterator[tuple[exp.Table, str]]:
        """The names without a schema in a statement, with the full names that they mean."""
        if self.is_default:
            return
        made = _made_by(tree)
        relations = self.relations
        if made is not None:
            if made.args.get("db") is None:
                yield made, self._placed(made)
            relations = {*relations, relation_name(made) if made.args.get("db") else self._placed(made)}
        for node in _named_by(tree):
            if node is not made and isinstance(node.this, exp.Identifier):
                yield node, self.meant(fold(node.this), relations)

    def _placed(self, node: exp.Table) -> str:
        create = node.find_ancestor(exp.Create)
        if self.temporary is not None and create is not None and makes_temporary(create):
            return full_name(self.temporary, fold(node.this))
        try:
            return self.made(fold(node.this))
        except InvalidQuery as error:
            fail(error, node)


DEFAULT = Namespace()
"""The namespace of whoever has set no search path."""


def added_schema(node: exp.Table) -> str | None:
    """The schema that `qualify` put before a name."""
    schema = node.args.get("db")
    return schema.this if isinstance(schema, exp.Identifier) and schema.meta.get(_ADDED) else None


def makes_temporary(create: exp.Create) -> bool:
    properties = create.args.get("properties")
    return properties is not None and properties.find(exp.TemporaryProperty) is not None


def _set_schema(node: exp.Table, full: str) -> None:
    schema = schema_of(full)
    if schema != PUBLIC:
        before = exp.to_identifier(schema, quoted=True)
        before.meta[_ADDED] = True
        node.set("db", before)


def _made_by(tree: exp.Expression) -> exp.Table | None:
    """The name that a CREATE gives."""
    if not isinstance(tree, exp.Create):
        return None
    node = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
    return node if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier) else None


def _named_by(tree: exp.Expression) -> list[exp.Table]:
    """The names of tables and views in a statement that have no schema."""
    if isinstance(tree, exp.Alter):
        targets = [tree.this]
        added = [node for action in tree.args["actions"] for node in action.find_all(exp.Reference)]
        return [*_bare(targets), *(node for part in added for node in table_nodes(part))]
    if isinstance(tree, exp.Insert | exp.Update | exp.Delete | exp.Merge):
        target = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
        others = [node for node in table_nodes(tree) if node is not target]
        return [*_bare([target]), *others]
    return table_nodes(tree)


def _bare(nodes: list[exp.Expression]) -> list[exp.Table]:
    return [node for node in nodes if isinstance(node, exp.Table) and not node.args.get("db")]
