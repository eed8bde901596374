"""The views that were made on a branch, when it is merged: they are made on its parent too, after its epoch.

A view whose name the parent uses for something else, or that cannot be made there, is left out, with those
that read it, and the merge says so. The branch keeps its views, and whoever merges it again makes those that
are still missing.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.errors import EngineError
from planner.errors import PlannerError
from service.definitions.definition import Definition
from service.errors import Conflict, ServiceError
from service.running.branches.branch_diff import shown
from service.running.branches.branch_timeline import BranchTimeline


@dataclass(frozen=True)
class LeftOut:
    """A view that was not made, and why."""

    view: str
    reason: str


@dataclass(frozen=True)
class MergedViews:
    """The names of the views that were made on the parent, and the views that were left out."""

    made: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


def check_names(branch: BranchTimeline) -> None:
    """Raises Conflict if the parent uses the name of one of the branch's own views for something else."""
    taken = [view.name for view in branch.own_views if _is_taken(view, branch)]
    if taken:
        raise Conflict(
            f"{shown(branch.parent)} has something else called {', '.join(taken)}, which branch "
            f"{branch.name} has made",
            "merge with ON CONFLICT OURS to leave these views out, or drop one of both first",
            code="merge_conflict",
        )


async def merge_views(branch: BranchTimeline) -> MergedViews:
    """Makes the branch's own views on its parent, in the order in which they read each other."""
    made: list[str] = []
    lost: list[LeftOut] = []
    for view in branch.own_views:
        missing = view.reads & {it.view for it in lost}
        if missing:
            lost.append(LeftOut(view.name, f"it reads {', '.join(sorted(missing))}, which was left out"))
            continue
        if _is_there(view, branch):
            continue
        try:
            await branch.parent.create_view(view.name, view.sql, view.dialect)
            made.append(view.name)
        except (ServiceError, EngineError, PlannerError) as error:
            lost.append(LeftOut(view.name, error.message))
    return MergedViews(tuple(made), tuple(lost))


def _is_taken(view: Definition, branch: BranchTimeline) -> bool:
    return view.name in branch.parent.definitions() and not _is_there(view, branch)


def _is_there(view: Definition, branch: BranchTimeline) -> bool:
    return branch.readable.known.means_same(view.name, branch.parent.readable.known)
