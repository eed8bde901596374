"""Ids of rows from scratch: every row asks for a hash, losers ask again, until none collide."""

from __future__ import annotations

from collections.abc import Iterable

from engine.plan.row_ids import IdHash

WORD = 2**64 - 1
NULL = -(2**63)


def ids_of(rows: Iterable[tuple], hash: IdHash) -> dict[tuple, int]:
    """The id of each of some distinct rows of integers and NULLs."""
    words = {tuple(NULL if value is None else value for value in row): row for row in rows}
    rounds = dict.fromkeys(words, 0)
    while True:
        groups: dict[int, list[tuple[int, tuple[int, ...]]]] = {}
        for row, round in rounds.items():
            groups.setdefault(row_hash(row, round, hash), []).append((round, row))
        losers = [row for group in groups.values() for _, row in sorted(group)[1:]]
        if not losers:
            return {words[row]: row_hash(row, round, hash) for row, round in rounds.items()}
        for row in losers:
            rounds[row] += 1


def row_hash(row: tuple[int, ...], round: int, hash: IdHash) -> int:
    state = mixed((hash.seed + (round + 1) * 0x9E3779B97F4A7C15) & WORD)
    for word in row:
        state = mixed(state ^ (word & WORD))
    if round < len(hash.bits) and hash.bits[round] < 64:
        return state & ((1 << hash.bits[round]) - 1)
    signed = state - 2**64 if state >= 2**63 else state
    return signed if signed != NULL else NULL + 1


def mixed(state: int) -> int:
    """A bijection of 64-bit words."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        state = ((state ^ (state >> shift)) * factor) & WORD
    return state


def unmixed(state: int) -> int:
    """The word that `mixed` takes to `state`."""
    for shift, factor in ((31, 1), (27, 0x94D049BB133111EB), (30, 0xBF58476D1CE4E5B9)):
        state = (state * pow(factor, -1, 2**64)) & WORD
        state ^= (state >> shift) ^ (state >> (2 * shift))
    return state
