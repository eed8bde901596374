"""The exceptions of the engine.

EngineError
├── PlanError        a plan is not well formed (a fault of the front end)
├── InvalidValue     a value does not fit its type (a fault of the data)
├── UnknownName      no source or view has this name
├── NameInUse        a source or view has this name already, or is still read
├── EpochError       an epoch is out of order, or its history is no longer kept
├── LimitExceeded    a recursion exceeded its limit of rounds
├── JoinTooLarge     a join makes more pairs of rows than its budget allows
├── CountTooLarge    a row of a view would be there too often, or a sum does not fit
├── OverBudget       a part of a view used more time, rows or memory than it may
│   └── PassTooLarge   it did so in a pass of several epochs: fewer at a time may be few enough
├── BuildCancelled   the building of a view was cancelled
├── ExecutionFailed  an executor could not compute an advance
├── SparkUnavailable no Spark session could be opened; the message says why
└── StoreError       a file of the state is missing or damaged

Every error has a stable `code`, a `message`, and a `hint`, which may be empty.
"""

from __future__ import annotations


class EngineError(Exception):
    """The root of the engine's errors."""

    code = "engine_error"

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message


class PlanError(EngineError):
    code = "invalid_plan"


class InvalidValue(EngineError):
    code = "invalid_value"


class UnknownName(EngineError):
    code = "unknown_name"


class NameInUse(EngineError):
    code = "name_in_use"


class EpochError(EngineError):
    code = "epoch_out_of_range"


class LimitExceeded(EngineError):
    code = "recursion_limit"


class JoinTooLarge(EngineError):
    code = "join_too_large"

    @classmethod
    def of(cls, pairs: int, most: int) -> JoinTooLarge:
        """The error of a step that would make `pairs` pairs, where `most` are allowed."""
        return cls(
            f"a join would make {pairs} pairs of rows at once; for inputs of this size the limit is {most}",
            "join by more columns, or by a period too; ASOF JOIN finds the nearest row without pairs, if its "
            "condition has equalities and one inequality",
        )


class OverBudget(EngineError):
    code = "over_budget"

    @classmethod
    def of(cls, part: str, seconds: float, rows: int, bytes: int, rounds: int) -> OverBudget:
        """The error of a part of a view that used so much and had not ended."""
        ran = f"{rounds} rounds and " if rounds else ""
        return cls(
            f"{part} had not ended after {ran}{seconds:.1f} seconds, and had made {rows} rows "
            f"({bytes >> 20} MiB)",
            "narrow the query, or raise the limit if it is right and large",
        )

    @classmethod
    def of_memory(cls) -> OverBudget:
        """The error of a view for which an allocation has failed."""
        return cls("the view does not fit into memory", "narrow the query, or give it more memory")


class PassTooLarge(OverBudget):
    pass


class CountTooLarge(EngineError):
    code = "count_too_large"

    @classmethod
    def of(cls, part: str) -> CountTooLarge:
        """The error of a part of a view that cannot count or add up its rows."""
        return cls(
            f"{part} would have a row 2^62 times or more, or add up so many",
            "count copies instead of keeping them, or drop them: by GROUP BY, DISTINCT or UNION",
        )


class BuildCancelled(EngineError):
    code = "cancelled"


class ExecutionFailed(EngineError):
    code = "execution_failed"


class SparkUnavailable(EngineError):
    code = "spark_unavailable"


class StoreError(EngineError):
    code = "state_damaged"
