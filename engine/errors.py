"""What the engine raises.

EngineError
├── PlanError        a plan is not well formed (the front end's fault)
├── InvalidValue    a value does not fit its type (the data's fault)
├── UnknownName      no source or view has this name
├── NameInUse        a source or view has this name, or something still reads it
├── EpochError       an epoch is out of order, or its history is no longer kept
├── LimitExceeded    a recursion passed its limit of rounds
├── JoinTooLarge     a join makes more pairs of rows than there is room for
├── ExecutionFailed  an advance could not be computed elsewhere
├── SparkUnavailable there is no Spark session, and why
└── StoreError       a file of the state is missing or damaged

Every error has a stable `code`, a `message` and a `hint` that may be empty.
"""

from __future__ import annotations


class EngineError(Exception):
    code = "engine_error"

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


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
        """The error for so many pairs that one step would make."""
        return cls(
            f"a join would make {pairs} pairs of rows at once, and {most} are the most for so few rows",
            "join by more columns, or by a period besides: ASOF JOIN pairs each row of its left with all "
            "rows of its right that have the same key",
        )


class ExecutionFailed(EngineError):
    code = "execution_failed"


class SparkUnavailable(EngineError):
    code = "spark_unavailable"


class StoreError(EngineError):
    code = "state_damaged"
