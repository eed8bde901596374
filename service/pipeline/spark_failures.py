"""Errors of Spark and of the file system, as errors with a problem document.

This module does not import PySpark: it recognizes its exceptions by the module that defines them, and takes
the reason from Java's text, where the last cause says most.
"""

from __future__ import annotations

from engine.errors import SparkUnavailable
from service.errors import Invalid, Unavailable

_FOREIGN = ("pyspark", "py4j", "grpc")
_CAUSE = "Caused by: "
_LONGEST = 1000
"""The most characters of a reason."""


def explain_failure(error: Exception) -> Exception:
    """The error itself, or one with a problem document for errors of Spark and the file system."""
    if type(error).__name__ == "Py4JNetworkError" or isinstance(error, ConnectionError):
        return SparkUnavailable("Spark ended during its work", "try again: it is being restarted")
    if isinstance(error, OSError):
        return Unavailable(f"files cannot be written or read: {error}", code="storage_failed")
    if type(error).__module__.partition(".")[0] not in _FOREIGN:
        return error
    return Invalid(reason(str(error)), code="spark_failed")


def reason(text: str) -> str:
    """The last cause in a Java exception's text, without its class and the stack."""
    lines = [line for line in text.splitlines() if not line.startswith(("\tat ", "\t... "))]
    causes = [place for place, line in enumerate(lines) if line.startswith(_CAUSE)]
    if causes:
        lines = [lines[causes[-1]].removeprefix(_CAUSE), *lines[causes[-1] + 1 :]]
    elif len(lines) > 1 and lines[1].startswith(": "):
        lines = [lines[1][2:], *lines[2:]]
    first = lines[0] if lines else ""
    kind, separator, rest = first.partition(": ")
    if separator and " " not in kind and "." in kind:
        lines[0] = rest
    return " ".join(line.strip() for line in lines)[:_LONGEST]
