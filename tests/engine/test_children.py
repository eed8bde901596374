"""Child processes of the service: what they inherit from the server that forks them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from multiprocessing.connection import Connection
from pathlib import Path

import pyarrow as pa
import pytest

from engine.kernels.arrange import arrange
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


_BEGUN = """
import os, time
from multiprocessing import forkserver
from engine.kernels.arrange import arrange
from engine.processes import children
import engine.processes.process_executor
from tests.engine.test_children import tell_kernels

began = time.perf_counter()
children.begin()
assert time.perf_counter() - began < 1, "it waits for the server"
server = forkserver._forkserver._forkserver_pid
children.begin()
receiving, sending = children.pipe(duplex=False)
child = children.start("freshet-kernels", tell_kernels, sending)
assert receiving.poll(60) and receiving.recv() == (server, True)
children.join(child)
assert not arrange.signatures, "the server has loaded it, and this process has not"
"""


def tell_kernels(sending: Connection) -> None:
    sending.send((os.getppid(), bool(arrange.signatures)))


def test_the_server_begins_on_its_own_and_loads_the_kernels_of_large_work() -> None:
    root = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", _BEGUN], check=True, timeout=120, cwd=root)
