"""SQL functions and macros: created, dropped, and stored in the catalog's database.

Nothing depends on them: what calls one, and is stored, has its body instead (`planner.parsing.vocabulary`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

import orjson
import sqlalchemy as sa

from engine.errors import NameInUse
from engine.schema import Type
from planner.errors import InvalidQuery
from planner.parsing.function_calls import check_ends
from planner.parsing.respelled_enums import respelled
from planner.parsing.sql_functions import FunctionParameter, SqlFunction
from planner.relation_names import schema_of
from planner.suggestions import did_you_mean
from service.catalog.catalog import Catalog
from service.catalog.database import Number, metadata
from service.catalog.records import Definer
from service.definitions.named_schemas import NamedSchemas
from service.definitions.named_things import NamedThings
from service.errors import NotFound
from service.names import check_name, check_relation_name

functions = sa.Table(
    "functions",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("parameters", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("id", Number, nullable=False),
    sa.Column("definition", sa.Text, nullable=False),
)


class NamedFunctions(NamedThings[tuple[SqlFunction, ...]]):
    """The functions of each full name, by the number of their parameters."""

    def __init__(self, catalog: Catalog, schemas: NamedSchemas) -> None:
        super().__init__(catalog, "function", functions, {})
        self._schemas = schemas
        self.put(_grouped(_loaded(row.name, row.definition) for row in self.rows()))

    def create(self, made: Sequence[SqlFunction], or_replace: bool, exists_ok: bool) -> None:
        """Stores overloads of one name. Raises NameInUse, and a PlannerError for functions that would call
        each other for ever."""
        name = made[0].name
        check_relation_name(name)
        self._schemas.require(schema_of(name))
        there = {len(function.parameters): function for function in self.all.get(name, ())}
        if exists_ok and there:
            return
        for function in made:
            for parameter in function.parameters:
                if parameter.name:
                    check_name(parameter.name)
        counts = [len(function.parameters) for function in made]
        if len(set(counts)) < len(counts):
            raise InvalidQuery(f"two overloads of {name} have the same number of parameters")
        for count in counts:
            if count in there and not or_replace:
                raise NameInUse(
                    f"there is a function called {name} with {count} parameters already: overloads differ "
                    "in their number"
                )
        is_macro = made[0].is_macro
        kept = () if is_macro else [f for n, f in there.items() if n not in counts]
        after = {**self.all, name: tuple(sorted([*kept, *made], key=lambda f: len(f.parameters)))}
        check_ends(after, made)
        with self.catalog.changing() as changing:
            changing.has_changed = True
            gone = functions.c.name == name
            if not is_macro:
                gone &= functions.c.parameters.in_(counts)
            changing.connection.execute(sa.delete(functions).where(gone))
            newest = changing.connection.execute(sa.select(sa.func.max(functions.c.id))).scalar() or 0
            rows = [
                {"name": name, "parameters": len(f.parameters), "id": newest + i, "definition": _dumped(f)}
                for i, f in enumerate(made, 1)
            ]
            changing.connection.execute(sa.insert(functions), rows)
        self.put(after)

    def respelled(self, old: Type, new: Type) -> dict[str, tuple[SqlFunction, ...]]:
        """The functions whose texts have an enumeration, with another in its place, and their overloads."""

        def changed(function: SqlFunction) -> SqlFunction:
            return function.with_texts(lambda text: respelled(text, function.dialect, old, new))

        found = {name: tuple(map(changed, overloads)) for name, overloads in self.all.items()}
        return {name: overloads for name, overloads in found.items() if overloads != self.all[name]}

    def change(self, changing: Definer, changed: Mapping[str, Sequence[SqlFunction]]) -> None:
        """Stores functions in the places of those with their names and parameters; `put` them when the
        transaction has committed."""
        changing.has_changed = True
        for function in chain.from_iterable(changed.values()):
            here = functions.c.name == function.name
            here &= functions.c.parameters == len(function.parameters)
            changing.connection.execute(sa.update(functions).where(here).values(definition=_dumped(function)))

    def rename(self, renamed: Mapping[str, tuple[SqlFunction, ...]], called: Mapping[str, str]) -> None:
        """Lets functions be known by the names that they have in the catalog now, `called` by old ones."""
        self.put(renamed)
        self.forget(list(called))

    def drop_function(self, name: str, parameters: int | None, missing_ok: bool, all_overloads: bool) -> None:
        """Drops the function with so many parameters, or the one of the name; of several, all or none. Raises
        NotFound, and InvalidQuery if the name is not enough."""
        there = self.all.get(name, ())
        found = [f for f in there if parameters is None or len(f.parameters) == parameters]
        if not found:
            if missing_ok:
                return
            shown = name if parameters is None else f"{name} with {parameters} parameters"
            raise NotFound(f"there is no function called {shown}", did_you_mean(name, self.all))
        if len(found) > 1 and not all_overloads:
            raise InvalidQuery(
                f"there are {len(found)} functions called {name}", f"write DROP FUNCTION {found[0].signature}"
            )
        counts = [len(function.parameters) for function in found]
        with self.catalog.changing() as changing:
            changing.has_changed = True
            gone = (functions.c.name == name) & functions.c.parameters.in_(counts)
            changing.connection.execute(sa.delete(functions).where(gone))
        kept = tuple(function for function in there if function not in found)
        self.forget([name])
        self.put({name: kept} if kept else {})


def _grouped(found: Iterable[SqlFunction]) -> Mapping[str, tuple[SqlFunction, ...]]:
    grouped: dict[str, tuple[SqlFunction, ...]] = {}
    for function in found:
        grouped[function.name] = (*grouped.get(function.name, ()), function)
    return grouped


def _dumped(function: SqlFunction) -> str:
    document = {
        "parameters": [[p.name, p.type, p.default] for p in function.parameters],
        "body": function.body,
        "dialect": function.dialect,
        "table": function.is_table,
        "returns": function.returns,
        "columns": function.columns,
        "strict": function.strict,
        "macro": function.is_macro,
    }
    return orjson.dumps(document).decode()


def _loaded(name: str, definition: str) -> SqlFunction:
    document = orjson.loads(definition)
    return SqlFunction(
        name,
        tuple(FunctionParameter(*each) for each in document["parameters"]),
        document["body"],
        document["dialect"],
        document["table"],
        document["returns"],
        tuple((column, type) for column, type in document["columns"]),
        document["strict"],
        document["macro"],
    )
