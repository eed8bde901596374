"""The end of the service's process: at a deadline, or because another service has taken its place.

Whatever was acknowledged is in the log, so an end at any moment loses nothing; the next start reads the log
from the last checkpoint on.
"""

from __future__ import annotations

import atexit
import faulthandler
import logging
import os
import threading
from time import sleep
from typing import NoReturn

from engine.patience import Patience

DEPOSED = 75
"""The exit code of a service in whose place another leads: EX_TEMPFAIL of sysexits.h."""
_LAST_ANSWERS = 0.5
"""Seconds in which a deposed service refuses what waits."""
_log = logging.getLogger("freshet.end")
_GRACE = 10
"""Seconds after the deadline at which the process ends even if no thread of Python can run. A machine seldom
stands still for longer, and then the exit code would be another one."""


def end_by(seconds: float) -> None:
    """End the process after so many seconds, at least one, whatever its threads are doing. A stall of the
    machine is not their time."""
    seconds = max(seconds, 1)

    def rest(step: float) -> bool:
        sleep(step)
        faulthandler.dump_traceback_later(seconds + _GRACE, exit=True)
        return False

    def wait() -> None:
        Patience(seconds).wait(rest)
        _leave(seconds)

    faulthandler.dump_traceback_later(seconds + _GRACE, exit=True)
    threading.Thread(target=wait, name="deadline", daemon=True).start()


def leave(code: int) -> NoReturn:
    """End the process, all of whose work is done.

    The interpreter is not taken apart: that takes long, and DuckDB's binding would report as leaked what the
    collector has frozen.
    """
    atexit._run_exitfuncs()
    os._exit(code)


def leave_deposed() -> None:
    """End the process soon, because another service leads in its place."""
    _log.critical("another service leads now: this one ends")
    faulthandler.dump_traceback_later(_LAST_ANSWERS + _GRACE, exit=True)
    timer = threading.Timer(_LAST_ANSWERS, _leave_deposed)
    timer.daemon = True
    timer.start()


def _leave_deposed() -> None:
    logging.shutdown()
    os._exit(DEPOSED)


def _leave(seconds: float) -> None:
    _log.warning("not everything was finished within %g s; what was acknowledged is in the log", seconds)
    logging.shutdown()
    os._exit(0)
