"""Statements about branches, and what no statement can do on one."""

from __future__ import annotations

from datetime import datetime

from planner.errors import Unsupported
from planner.statements.branch_statements import CreateBranch, MergeBranch
from planner.statements.drop_statements import DropBranch
from planner.statements.outside import OUTSIDE
from planner.statements.replacement_statements import REPLACING
from planner.statements.statements import Statement
from service.errors import Conflict
from service.running.branches.branch_merging import ConflictChoice
from service.running.branches.open_branches import MAIN_NAME, OpenBranches
from service.running.runtime import Runtime
from service.sql.defining import DEFINING, OF_VIEWS
from service.sql.script_session import ScriptSession
from service.sql.tasks import Result, late_notices, name_of

BRANCHING = CreateBranch | DropBranch | MergeBranch
"""Statements that make, merge and drop branches."""
_DEFINES = "SET branch = main: of its own, a branch can have views, made with CREATE VIEW, and nothing else"
_OUTSIDE = (
    "SET branch = main: files, sources and sinks are main's; SELECT reads a branch, and so does rows?branch="
)


def check_on_main(session: ScriptSession, what: str, hint: str = _DEFINES) -> None:
    """Raises Unsupported if the session is on a branch, where this cannot be."""
    if session.branch is not None:
        raise Unsupported(f"{what} on a branch is not supported", hint)


def check_place(statement: Statement, session: ScriptSession) -> None:
    """Raises Unsupported for a statement that cannot be on the branch of its session."""
    if isinstance(statement, DEFINING | REPLACING) and not isinstance(statement, OF_VIEWS):
        check_on_main(session, name_of(statement))
    if isinstance(statement, OUTSIDE):
        check_on_main(session, name_of(statement), _OUTSIDE)


def set_branch(name: str | None, session: ScriptSession, runtime: Runtime) -> None:
    """Lets the statements that follow read and change a branch. Raises NotFound."""
    found = None if name in (None, MAIN_NAME) else name
    if found is not None:
        runtime.branches.get(found)
    session.branch = found


async def change_branches(statement: BRANCHING, session: ScriptSession, branches: OpenBranches) -> Result:
    """Runs a statement."""
    made = name_of(statement)
    match statement:
        case CreateBranch(name=name, parent=parent, as_of=as_of):
            of = parent or session.branch or MAIN_NAME
            timeline = branches.timeline(of)
            epoch = await timeline.epoch_at(as_of) if isinstance(as_of, datetime) else as_of
            options = {"live": statement.live, "exists_ok": statement.if_not_exists}
            branch = await branches.create(name, of, epoch, **options)
            return Result(made, branch.readable.newest)
        case DropBranch(names=names):
            if session.branch in names:
                raise Conflict(
                    f"the session is on branch {session.branch}", "SET branch = main first", code="in_use"
                )
            await branches.drop(*names, missing_ok=statement.if_exists)
            return Result(made, branches.timeline(MAIN_NAME).readable.newest)
        case MergeBranch(name=name, into=into):
            parent = branches.get(name).parent.name or MAIN_NAME
            if into not in (None, parent):
                raise Unsupported(
                    f"a merge of branch {name} into {into} is not supported",
                    f"a branch is merged into its parent, {parent}",
                )
            merged, views = await branches.merge(name, ConflictChoice(statement.on_conflict))
            notices = [f"view {it.view} was left out: {it.reason}" for it in views.left_out]
            if views.made:
                notices.insert(0, f"made of branch {name}: {', '.join(views.made)}")
            notices += late_notices(merged.applied.late)
            return Result(made, merged.applied.epoch, merged.applied.changes, notices=tuple(notices))
