"""Machine code is that of its sources: what is shipped, and what is found again after an edit."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Barrier, Lock

import pytest

import engine
from engine.kernels import compiled
from engine.kernels.build import file_of, load_modules
from engine.kernels.compiled import KERNELS, SHIPPED, Kernel, _source

MIX = "0x9E3779B97F4A7C15"
"""What `index.hash_key` mixes with, which the kernel of `shards` calls."""
SPLIT = """
import numpy as np
from engine.kernels.shards import split
rows = np.arange(16, dtype=np.int64).reshape(8, 2)
print(split(rows, 1, 4)[1].tolist())
"""

AT_ONCE = """
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
import numpy as np
from engine.kernels.shards import split
rows, start = np.arange(16, dtype=np.int64).reshape(8, 2), Barrier(8)
def call(_):
    start.wait()
    return split(rows, 1, 4)
with ThreadPoolExecutor(8) as threads:
    print(len(list(threads.map(call, range(8)))))
"""


def test_sources_are_parsed_by_one_thread_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python 3.11 fails otherwise, and with it the view whose kernel is loaded while a service starts."""
    load_modules()
    by_module = list({kernel.function.__module__: kernel for kernel in KERNELS}.values())
    looked_up, loaded = by_module[:4], by_module[4:8]
    again = [Kernel(k.function, k.signature, dict(k.files._options)) for k in loaded]
    together, parse, parsing = Barrier(8), ast.parse, Lock()

    def alone(source: bytes) -> ast.Module:
        assert parsing.acquire(blocking=False), "two threads parse"
        time.sleep(0.001)
        try:
            return parse(source)
        finally:
            parsing.release()

    def work(ask: Callable[[], object]) -> None:
        together.wait()
        ask()

    compiled._sources.cache_clear()
    asked = [partial(file_of, kernel) for kernel in looked_up] + [kernel.ready for kernel in again]
    with monkeypatch.context() as patched, ThreadPoolExecutor(8) as threads:
        patched.setattr(ast, "parse", alone)
        list(threads.map(work, asked))


def test_what_is_shipped_is_of_these_sources() -> None:
    load_modules()
    wanted = {kernel.files.stem(kernel.signature) for kernel in KERNELS}
    shipped = {file.name.rsplit("-", 1)[0] for file in SHIPPED.glob("*.code")}
    assert shipped == wanted, "make kernels compiles them anew"


def test_an_edited_helper_of_another_module_is_seen(tmp_path: Path) -> None:
    package = Path(engine.__file__).parent
    shutil.copytree(package, tmp_path / "engine", ignore=shutil.ignore_patterns("__pycache__", "*.code"))
    before = split_by(tmp_path)
    assert split_by(tmp_path) == before
    helper = tmp_path / "engine" / "kernels" / "index.py"
    text = helper.read_text()
    assert MIX in text
    helper.write_text(text.replace(MIX, "0x3"))
    assert split_by(tmp_path) != before


def test_a_module_that_is_imported_as_a_name_is_a_source() -> None:
    source = _source("engine.kernels.stepping.outermost_step")
    assert source is not None and "engine.kernels.stepping.spine" in source[1]


def split_by(directory: Path) -> str:
    """Where the shards end by the engine in the directory, in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(directory), "NUMBA_CACHE_DIR": str(directory / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", SPLIT],
        cwd=directory,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_threads_that_need_a_kernel_at_once_all_have_it() -> None:
    done = subprocess.run([sys.executable, "-c", AT_ONCE], capture_output=True, text=True)
    assert done.stdout.strip() == "8", done.stderr


AHEAD = """
from engine.kernels.compiled import KERNELS, load
from engine.kernels.shards import split
(kernel,) = [kernel for kernel in KERNELS if kernel.dispatcher is split]
assert not split.signatures
load(split)
assert [str(one) for one in split.nopython_signatures] and kernel.dispatcher.overloads
load(split)
others = [one for one in KERNELS if one.dispatcher is not split and one.dispatcher.overloads]
print(len(others) < len(KERNELS) - 1)
"""


def test_a_kernel_that_is_loaded_ahead_is_there_and_the_others_are_not() -> None:
    done = subprocess.run([sys.executable, "-c", AHEAD], capture_output=True, text=True)
    assert done.stdout.strip() == "True", done.stderr
