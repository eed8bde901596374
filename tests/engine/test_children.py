"""Child processes of the service: what they inherit from the server that forks them."""

from __future__ import annotations

import signal
from multiprocessing.connection import Connection

from engine.processes import children


def _tell_mask(sending: Connection) -> None:
    sending.send(set(signal.pthread_sigmask(signal.SIG_BLOCK, ())))


def test_ctrl_c_of_a_terminal_reaches_no_child() -> None:
    """It is blocked from the first instruction on, and open again in the thread that began the child."""
    receiving, sending = children.pipe(duplex=False)
    child = children.start("freshet-mask", _tell_mask, sending)
    sending.close()
    assert receiving.poll(60)
    assert receiving.recv() == {signal.SIGINT}
    children.join(child)
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
