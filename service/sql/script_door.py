"""The SQL door: scripts and single statements come in here, and leave with their results.

A point read is answered at once; all else is run by `script_run.py`. Everything that runs for a caller ends
when the caller leaves, unless its changes are being made already.
"""

from __future__ import annotations

from planner.parsing.parameters import NO_PARAMETERS, Parameters
from planner.parsing.script import Piece
from service.accounts.privileges import Privilege
from service.definitions.readable import Readable
from service.reading.callers import Caller
from service.reading.kept_answers import KeptAnswers
from service.reading.lanes import Lanes
from service.reading.point_reads import AT_ONCE, MOST, PointRead
from service.reading.queries import Queries
from service.reading.reads import check_health
from service.running.runtime import Runtime
from service.sql.caller_scope import DoorParts
from service.sql.prepared import PreparedStatements, Shape
from service.sql.script_failures import ScriptFailed
from service.sql.script_run import ScriptRun
from service.sql.script_session import ScriptSession
from service.sql.system_catalogs import SystemCatalogs
from service.sql.tasks import Result
from service.telemetry.slow_statements import SlowStatements


class SqlDoor:
    """Statements are parsed and planned in the lane `planning`, those with a long text in `long_texts`.

    A point read needs neither, once it is prepared, and no worker.
    """

    def __init__(self, runtime: Runtime, queries: Queries, lanes: Lanes) -> None:
        self._runtime = runtime
        self._queries = queries
        self._planning = lanes.planning
        self._long_texts = lanes.long_texts
        self._lookups = lanes.lookups
        self._catalogs = SystemCatalogs(runtime)
        settings = runtime.settings
        self.prepared = PreparedStatements(runtime, settings.prepared_bytes, settings.planning_limits)
        self.kept = KeptAnswers[Result](settings.kept_answer_bytes, settings.kept_answer_seconds)
        """Results whose rows are read page by page."""
        self.slow = SlowStatements()

    @property
    def parts(self) -> DoorParts:
        """What every run of statements needs."""
        return self._runtime, self._queries, self._planning, self._long_texts, self.slow, self._catalogs

    async def run(
        self,
        script: str,
        dialect: str,
        caller: Caller,
        parameters: Parameters = NO_PARAMETERS,
        rows_last: bool = False,
        as_of: int | None = None,
        session: ScriptSession | None = None,
    ) -> list[Result]:
        """The statements' results. Raises InvalidSyntax if the script cannot be split, else ScriptFailed.

        The statements share the `session`, which outlives the script if the caller keeps it.

        With `rows_last`, the last statement has to return rows; else InvalidQuery, before anything runs. With
        `as_of`, queries read that epoch, and no statement may change anything.
        """
        run = ScriptRun(*self.parts, caller, session or ScriptSession(), as_of)
        found = await self._found(run, script, dialect, parameters)
        if found is not None:
            return [found]
        return await run.run(await run.pieces(script, dialect, parameters, rows_last))

    async def run_piece(self, piece: Piece, caller: Caller, session: ScriptSession) -> Result:
        """The result of one statement that is not in a block. Raises ScriptFailed."""
        run = ScriptRun(*self.parts, caller, session)
        found = await self._found(run, piece.excerpt(0).text, piece.dialect, piece.parameters)
        if found is not None:
            return found
        (result,) = await run.run([piece])
        return result

    async def _found(self, run: ScriptRun, text: str, dialect: str, parameters: Parameters) -> Result | None:
        """The result of a text that is a point read; None if it is none, or if DuckDB has to answer."""
        if not run.is_in_public:
            return None
        caller, as_of, readable = run.caller, run.as_of, self._runtime.readable
        shape = Shape.of(text, dialect, parameters)
        is_known, read = self.prepared.kept(shape, readable.known)
        if not is_known and shape.is_likely:
            read = await self._planning.run(self.prepared.prepare, shape, readable.known)
        if read is None or not caller.principal.may(Privilege.SELECT, read.definition.name):
            return None
        if read.is_zoned and not caller.zone.is_utc:
            return None
        caller.check()
        found = _answered(read, readable, parameters, as_of, AT_ONCE) if read.is_light else None
        return found or await self._lookups.run(_answered, read, readable, parameters, as_of, MOST)


def _answered(
    read: PointRead, readable: Readable, parameters: Parameters, as_of: int | None, most: int
) -> Result | None:
    """The result of a point read, if it takes a look at no more than `most` differences."""
    snapshot = readable.snapshot
    epoch = readable.newest if as_of is None else as_of
    try:
        check_health(read.definition, snapshot, epoch)
    except Exception as error:
        raise ScriptFailed(0, error) from error
    answer = read.run(snapshot, epoch, parameters.given, most)
    return None if answer is None else Result("SELECT", readable.newest, answer=answer)
