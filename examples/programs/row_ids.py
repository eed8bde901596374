"""Row ids: a table of texts, taken apart into attributes by row id, joined as integers, put together again.

After McSherry, "String interning and beyond, in differential dataflow".
"""

from __future__ import annotations

from engine.api import Collection, Dataflow
from examples.programs.story import tell


def overloads(methods: Collection) -> Collection:
    """From methods (owner, name, parameters) to (owner, name, parameters, other): the methods that have
    another of their name in their class, with its parameters.

    Only ids are compared: of rows, and of texts. Texts are looked up for the result alone.
    """
    rows = methods.intern()
    texts = names(methods)
    keyed = coded(rows, "owner", texts).join(coded(rows, "name", texts), on="row")
    pairs = keyed.join(
        keyed,
        on=(("owner", "name"), ("owner", "name")),
        select=lambda one, other: {"row": one.row, "other": other.row},
    ).filter(lambda pair: pair.row != pair.other)
    return pairs.join(
        rows,
        on=("row", "id"),
        select=lambda pair, row: {
            "owner": row.owner,
            "name": row.name,
            "parameters": row.parameters,
            "another": pair.other,
        },
    ).join(
        rows,
        on=("another", "id"),
        select=lambda one, row: {
            "owner": one.owner,
            "name": one.name,
            "parameters": one.parameters,
            "other": row.parameters,
        },
    )


def names(table: Collection) -> Collection:
    """(text, id) for every text in any column of a table of texts."""
    first, *others = (table.select(name).map(lambda row: {"text": row[0]}) for name in table.schema.names)
    return first.concat(*others).intern()


def coded(rows: Collection, column: str, texts: Collection) -> Collection:
    """(row, column): an attribute of rows that have an `id`, its texts replaced by theirs."""
    return rows.select("id", column).join(
        texts, on=(column, "text"), select=lambda row, text: {"row": row.id, column: text.id}
    )


def main() -> None:
    flow = Dataflow()
    methods = flow.input("methods", owner=str, name=str, parameters=str)
    output = overloads(methods).output()
    for method in (
        ("AffineTransform", "transform", "(Point2D,Point2D)"),
        ("AffineTransform", "transform", "(double[],int,double[],int,int)"),
        ("AffineTransform", "invert", "()"),
        ("MirrorList", "readXml", "()"),
    ):
        methods.insert(method)
    tell(flow, output, "transform has two forms")
    methods.insert(("MirrorList", "readXml", "(String)"))
    tell(flow, output, "a second readXml")
    methods.remove(("AffineTransform", "transform", "(Point2D,Point2D)"))
    tell(flow, output, "only one form of transform is left")


if __name__ == "__main__":
    main()
