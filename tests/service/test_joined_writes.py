"""Small writes of one turn leave together; nothing is held back, lost or put into another order."""

from __future__ import annotations

import asyncio

from service.http.joined_writes import JoinedWrites


class _Told:
    """A transport that notes what it is told."""

    def __init__(self) -> None:
        self.calls: list[bytes | str] = []

    def write(self, data: bytes) -> None:
        self.calls.append(data)

    def write_eof(self) -> None:
        self.calls.append("eof")

    def close(self) -> None:
        self.calls.append("close")

    def abort(self) -> None:
        self.calls.append("abort")

    def is_closing(self) -> bool:
        return "close" in self.calls or "abort" in self.calls

    def get_write_buffer_size(self) -> int:
        return 7


def _within_a_turn(*steps: tuple[str, bytes | None]) -> tuple[list[bytes | str], list[bytes | str]]:
    """What the transport was told within the turn in which the steps were made, and in all."""

    async def run() -> tuple[list[bytes | str], list[bytes | str]]:
        told = _Told()
        joined = JoinedWrites(told, asyncio.get_running_loop())  # type: ignore[arg-type]
        for name, data in steps:
            getattr(joined, name)(*([] if data is None else [data]))
        within = list(told.calls)
        await asyncio.sleep(0)
        return within, told.calls

    return asyncio.run(run())


def test_head_and_body_leave_together() -> None:
    assert _within_a_turn(("write", b"head"), ("write", b"body")) == ([], [b"headbody"])


def test_a_large_piece_leaves_at_once_behind_what_was_held() -> None:
    large = bytes(1 << 13)
    within, told = _within_a_turn(("write", b"head"), ("write", large), ("write", b"tail"))
    assert (within, told) == ([b"head" + large], [b"head" + large, b"tail"])


def test_what_is_held_leaves_before_the_end() -> None:
    assert _within_a_turn(("write", b"a"), ("write_eof", None))[1] == [b"a", "eof"]
    assert _within_a_turn(("write", b"a"), ("close", None))[1] == [b"a", "close"]


def test_nothing_is_written_to_a_client_that_has_left() -> None:
    assert _within_a_turn(("write", b"a"), ("abort", None))[1] == ["abort"]


def test_what_is_held_counts_as_not_yet_read() -> None:
    async def run() -> tuple[int, int, bool]:
        joined = JoinedWrites(_Told(), asyncio.get_running_loop())  # type: ignore[arg-type]
        joined.write(b"abc")
        held = joined.get_write_buffer_size()
        await asyncio.sleep(0)
        return held, joined.get_write_buffer_size(), joined.is_closing()

    assert asyncio.run(run()) == (10, 7, False)
