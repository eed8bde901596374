"""The SQL door: scripts and single statements come in here, and leave with their results.

A point read is answered at once; all else is run by `script_run.py`. Everything that runs for a caller ends
when the caller leaves, unless its changes are being made already.
"""

from __future__ import annotations

from planner.parsing.parameters import NO_PARAMETERS, Parameters
from planner.parsing.script import Piece
from service.reading.callers import Caller
from service.reading.kept_answers import KeptAnswers
from service.reading.lanes import Lanes
from service.reading.queries import Queries
from service.running.runtime import Runtime
from service.sql.caller_scope import DoorParts
from service.sql.open_sessions import OpenSessions
from service.sql.outside_running import Outside
from service.sql.point_lookups import PointLookups
from service.sql.prepared import PreparedStatements
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

    def __init__(
        self, runtime: Runtime, queries: Queries, lanes: Lanes, sessions: OpenSessions, outside: Outside
    ) -> None:
        self._outside = outside
        self._runtime = runtime
        self._queries = queries
        self._planning = lanes.planning
        self._long_texts = lanes.long_texts
        self._catalogs = SystemCatalogs(runtime, sessions)
        settings = runtime.settings
        self.prepared = PreparedStatements(runtime, settings.prepared_bytes, settings.planning_limits)
        self.lookups = PointLookups(self.prepared, lanes)
        self.kept = KeptAnswers[Result](settings.kept_answer_bytes, settings.kept_answer_seconds)
        """Results whose rows are read page by page."""
        self.slow = SlowStatements()

    @property
    def parts(self) -> DoorParts:
        """What every run of statements needs."""
        own = self._runtime, self._queries, self._planning, self._long_texts, self.slow
        return *own, self._catalogs, self._outside

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
        readable, caller = run.timeline.readable, run.caller
        names = run.names()
        read = await self.lookups.read(text, dialect, parameters, names, readable.known, caller.principal)
        if read is None:
            return None
        if read.is_zoned and not caller.zone.is_utc:
            return None
        caller.check()
        try:
            answer = await self.lookups.answer(read, readable, parameters.given, run.as_of)
        except Exception as error:
            raise ScriptFailed(0, error) from error
        return None if answer is None else Result("SELECT", readable.newest, answer=answer)
