"""Schemas. All that exists is in `public`; names of relations that have a dot are written in double quotes.

A full name has its schema before a dot (`planner/relation_names.py`), so a relation of `public` whose own
name has a dot gets another full name. For a table that is a renaming, as ALTER TABLE makes it: the log and
the saved state know the table by its last layout.
"""

import json

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

number = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_IN_REQUESTS = {"jobs": ("request", "table", "relation"), "sources": ("definition", "table")}
_IN_REQUESTS |= {"sinks": ("definition", "view")}
"""By table: the column of a JSON object, and its members that name relations."""


def upgrade() -> None:
    op.create_table(
        "schemas",
        sa.Column("id", number, primary_key=True, autoincrement=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sqlite_autoincrement=True,
    )
    connection = op.get_bind()
    tables = sa.MetaData()
    tables.reflect(connection)
    rename_relations(connection, tables)
    rename_types(connection, tables)
    rename_patterns(connection, tables)
    for name, (column, *members) in _IN_REQUESTS.items():
        rename_members(connection, tables.tables[name], column, members)


def full(name: str) -> str:
    """The full name of a relation of `public`."""
    if "." not in name and not name.startswith('"'):
        return name
    return '"' + name.replace('"', '""') + '"'


def rename_relations(connection: sa.Connection, tables: sa.MetaData) -> None:
    relations, layouts = tables.tables["relations"], tables.tables["layouts"]
    for row in connection.execute(sa.select(relations).order_by(relations.c.id)).all():
        changed: dict[str, object] = {"name": full(row.name), "details": renamed_details(row.details)}
        if changed["name"] != row.name and row.columns is not None:
            changed["layout"] = retired(connection, relations, layouts, row)
        if changed != {"name": row.name, "details": row.details}:
            connection.execute(sa.update(relations).where(relations.c.id == row.id).values(**changed))


def retired(connection: sa.Connection, relations: sa.Table, layouts: sa.Table, row: sa.Row) -> int:
    """Stores a table's layout under its old name. Returns the number of the next one."""
    same = json.dumps([list(range(len(json.loads(row.columns)))), [], []])
    layout = {"id": row.layout or row.id, "relation": row.id, "name": row.name, "columns": row.columns}
    layout |= {"primary_key": row.primary_key, "change": same}
    connection.execute(sa.insert(layouts).values(**layout))
    nobody = {"name": "", "sql": "", "dialect": "", "created": 0}
    insert = sa.insert(relations).values(**nobody).returning(relations.c.id)
    id: int = connection.execute(insert).scalar_one()
    connection.execute(sa.delete(relations).where(relations.c.id == id))
    return id


def renamed_details(text: str | None) -> str | None:
    """The details of a relation with the new names of what it sees and refers to."""
    if text is None:
        return None
    document = json.loads(text)
    before = json.dumps(document)
    if "sees" in document:
        document["sees"] = {full(name): [full(to), *rest] for name, (to, *rest) in document["sees"].items()}
    for constraint in document.get("constraints", ()):
        if "foreign" in constraint:
            constraint["table"] = full(constraint["table"])
    return text if json.dumps(document) == before else json.dumps(document, ensure_ascii=False)


def rename_types(connection: sa.Connection, tables: sa.MetaData) -> None:
    types = tables.tables["types"]
    for (name,) in connection.execute(sa.select(types.c.name)).all():
        if full(name) != name:
            connection.execute(sa.update(types).where(types.c.name == name).values(name=full(name)))


def rename_patterns(connection: sa.Connection, tables: sa.MetaData) -> None:
    """All relations of a role were those of `public`; a key that was limited to all of them still is."""
    roles, keys = tables.tables["roles"], tables.tables["keys"]
    for row in connection.execute(sa.select(roles)).all():
        pairs = [
            (privilege, "public.*" if (pattern, privilege != "ADMIN") == ("*", True) else full(pattern))
            for privilege, pattern in json.loads(row.permissions)
        ]
        values = {"permissions": json.dumps(pairs, ensure_ascii=False)}
        connection.execute(sa.update(roles).where(roles.c.name == row.name).values(**values))
    for row in connection.execute(sa.select(keys).where(keys.c.relations.is_not(None))).all():
        limits = json.dumps([full(pattern) for pattern in json.loads(row.relations)], ensure_ascii=False)
        connection.execute(sa.update(keys).where(keys.c.id == row.id).values(relations=limits))


def rename_members(connection: sa.Connection, table: sa.Table, column: str, members: list[str]) -> None:
    for row in connection.execute(sa.select(table.c.id, table.c[column])).all():
        document = json.loads(row[1])
        new = {m: full(document[m]) for m in members if isinstance(document.get(m), str)}
        if new.items() - document.items():
            text = json.dumps(document | new, ensure_ascii=False)
            connection.execute(sa.update(table).where(table.c.id == row.id).values(**{column: text}))
