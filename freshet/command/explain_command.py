"""`freshet explain`: the plan of a view or of a query, as a tree in colour."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

import typer
from rich.console import Console

from freshet.command.connection_options import DEFAULT_URL, Certificate, Key, Url, connection_of
from freshet.command.plan_trees import plan_tree
from freshet.command.reporting import report
from freshet.command.terminal_text import say
from freshet.connection import Connection
from freshet.contract import calls
from freshet.errors import Error

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")
PlanStage = Literal["logical", "optimized", "dataflow", "supersteps", "analyze", "cost"]


@app.command()
def explain(
    view: Annotated[str | None, typer.Argument(help="The view.", show_default=False)] = None,
    command: Annotated[
        str | None, typer.Option("--command", "-c", help="A query, instead of a view.", show_default=False)
    ] = None,
    stage: Annotated[
        PlanStage,
        typer.Option(help="How far the plan has come; analyze has what it costs, cost what it would cost."),
    ] = "optimized",
    dialect: Annotated[str, typer.Option(help="The dialect of the query.")] = calls.DIALECT,
    url: Url = DEFAULT_URL,
    key: Key = None,
    certificate: Certificate = None,
) -> None:
    """Show how a query is computed.

    The stages are `logical`, the query as it is bound; `optimized`, what the passes make of it; `dataflow`,
    the operators that run; `supersteps`, how Spark runs them. `analyze` is for views: it has the rows, the
    bytes and the time of each operator. `cost` says what a view would cost. A terminal gets a tree, with each
    operator's share of the time.
    """
    if (view is None) == (command is None):
        raise typer.BadParameter("name either a view or a query with -c", param_hint="VIEW")
    with connection_of(url, key, certificate) as connection:
        try:
            text = (
                _of_query(connection, command, stage, dialect)
                if command
                else _of_view(connection, view, stage)
            )
        except Error as error:
            raise typer.Exit(report(error, command or "")) from None
    if sys.stdout.isatty() and stage != "cost":
        Console(soft_wrap=True).print(plan_tree(text), highlight=False)
    else:
        say(text)


def _of_view(connection: Connection, view: str | None, stage: str) -> str:
    if stage == "cost":
        (result,) = connection.run(calls.script_document(f"EXPLAIN COST VIEW {view}", calls.DIALECT))
        return "\n".join(row[0] for row in result["rows"])
    return connection.run(calls.plan_text(view or "", stage, "text")).rstrip("\n")


def _of_query(connection: Connection, query: str, stage: str, dialect: str) -> str:
    """The plan of a query. Places of errors are those in the query: EXPLAIN stands on a line before."""
    try:
        (result,) = connection.run(calls.script_document(f"EXPLAIN {stage.upper()}\n{query}", dialect))
    except Error as error:
        if error.line is not None:
            error.line = max(1, error.line - 1)
        raise
    return "\n".join(row[0] for row in result["rows"])
