"""Child processes of the service: what they inherit from the server that forks them."""

from __future__ import annotations

import signal
import subprocess
import sys
from multiprocessing.connection import Connection

import pyarrow as pa
import pytest

from engine.processes import children
from engine.processes.without_pandas import leave_pandas_out


def _tell_mask(sending: Connection) -> None:
    sending.send(set(signal.pthread_sigmask(signal.SIG_BLOCK, ())))


def _tell_pandas(sending: Connection) -> None:
    leave_pandas_out()
    sending.send(
        (pa.array([1, None]).is_valid().to_numpy(zero_copy_only=False).tolist(), "pandas" in sys.modules)
    )


def test_arrow_loads_no_pandas_in_a_child() -> None:
    receiving, sending = children.pipe(duplex=False)
    child = children.start("freshet-pandas", _tell_pandas, sending)
    sending.close()
    assert receiving.poll(60)
    assert receiving.recv() == ([True, False], False)
    children.join(child)


_FRAMES = """
import sys
import pyarrow as pa
from engine.processes.without_pandas import leave_pandas_out
leave_pandas_out()
table = pa.table({"a": [1, None]})
assert "pandas" not in sys.modules
frame = table.to_pandas()
assert "pandas" in sys.modules
assert pa.array(frame["a"]).null_count == 1 and pa.Table.from_pandas(frame).num_rows == 2
"""


def test_a_frame_that_is_wanted_is_made() -> None:
    pytest.importorskip("pandas")
    subprocess.run([sys.executable, "-c", _FRAMES], check=True, timeout=120)


def test_ctrl_c_of_a_terminal_reaches_no_child() -> None:
    """It is blocked from the first instruction on, and open again in the thread that began the child."""
    receiving, sending = children.pipe(duplex=False)
    child = children.start("freshet-mask", _tell_mask, sending)
    sending.close()
    assert receiving.poll(60)
    assert receiving.recv() == {signal.SIGINT}
    children.join(child)
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
