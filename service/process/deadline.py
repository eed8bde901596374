"""The deadline of the service's end: what it still does by then is given up.

Whatever was acknowledged is in the log, so an end at any moment loses nothing; the next start reads the log
from the last checkpoint on.
"""

from __future__ import annotations

import faulthandler
import logging
import os
import threading

_log = logging.getLogger("freshet.end")
_GRACE = 1
"""Seconds after which the process ends even if no thread of Python can run."""


def end_by(seconds: float) -> None:
    """End the process after so many seconds, at least one, whatever its threads are doing."""
    seconds = max(seconds, 1)
    timer = threading.Timer(seconds, _leave, (seconds,))
    timer.daemon = True
    timer.start()
    faulthandler.dump_traceback_later(seconds + _GRACE, exit=True)


def _leave(seconds: float) -> None:
    _log.warning("not everything was finished within %g s; what was acknowledged is in the log", seconds)
    logging.shutdown()
    os._exit(0)
