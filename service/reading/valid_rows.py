"""Rows of a relation with valid time at one valid time: those that hold then, without their periods."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import numpy as np

from engine.codec.timestamps import EPOCH_UTC, MICROSECOND
from engine.kernels.words import NULL
from engine.schema import Schema
from service.reading.row_readings import Reading


def valid_rows(reading: Reading, period: tuple[int, int], at: datetime) -> Reading:
    """The rows of a reading that hold at a time, in its order; `period` has the places of the columns with
    the moments from and until which a row holds."""
    moment = (at - EPOCH_UTC) // MICROSECOND
    since, until = (reading.words[place] for place in period)
    holds = ((since == NULL) | (since <= moment)) & ((until == NULL) | (moment < until))
    untimed = [place for place in range(len(reading.schema)) if place not in period]
    return replace(
        reading,
        schema=Schema(tuple(reading.schema.columns[place] for place in untimed)),
        words=np.ascontiguousarray(reading.words[untimed][:, holds]),
        counts=reading.counts[holds],
    )
