"""`python -m engine.kernels.build`: compiles what no file has yet, in processes on all cores.

With `--ship` the files go into the package, for the baseline processor, and those of other sources go away.
`missing` says what would be compiled.
"""

from __future__ import annotations

import argparse
import importlib
import os
import pkgutil
import sys
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

from engine import kernels
from engine.kernels.compiled import KERNELS, SHIPPED, Kernel, cache_directory
from engine.kernels.processor import BASELINE
from engine.orphans import end_with_parent


def load_modules() -> None:
    """Import every module of kernels, so that `KERNELS` is complete."""
    for module in pkgutil.walk_packages(kernels.__path__, f"{kernels.__name__}."):
        if not module.name.endswith(".build"):
            importlib.import_module(module.name)


def file_of(kernel: Kernel) -> str:
    """The name of the file that holds the kernel's code for this machine.

    A name needs the syntax of the sources, and Python 3.11 fails now and then to build that in two threads at
    once (python/cpython#106905). numba asks for names with its own lock held, so this takes it too.
    """
    with global_compiler_lock:
        return kernel.files.name(kernel.signature, cpu_target.target_context.codegen())


def missing() -> list[int]:
    """The positions in `KERNELS` of those without a file, the slowest to compile first."""
    load_modules()
    places = [place for place, kernel in enumerate(KERNELS) if not kernel.files.is_there(file_of(kernel))]
    return sorted(places, key=lambda place: -KERNELS[place].function.__code__.co_stacksize)


def found() -> list[Kernel]:
    """The kernels that have a file."""
    load_modules()
    return [kernel for kernel in KERNELS if kernel.files.is_there(file_of(kernel))]


def compile_one(place: int) -> str:
    """Compile a kernel in this process, which writes its code to the cache; returns its name."""
    load_modules()
    KERNELS[place].ready()
    return KERNELS[place].files.kernel


def compile_all(places: Iterable[int], workers: int) -> None:
    """Compile the kernels in separate processes, and report progress."""
    waiting = list(places)
    spawn = get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=spawn, initializer=end_with_parent) as processes:
        running = [processes.submit(compile_one, place) for place in waiting]
        for count, done in enumerate(as_completed(running), 1):
            print(f"compiled {count} of {len(waiting)} kernels: {done.result()}", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m engine.kernels.build", description=__doc__)
    parser.add_argument("--ship", action="store_true", help="into the package, for the baseline processor")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--with-parent", action="store_true", help="end with the process that began this")
    options = parser.parse_args()
    if options.with_parent:
        end_with_parent()
    if options.ship:
        if os.environ.get("NUMBA_CPU_NAME") != BASELINE:
            sys.exit(f"the kernels that are shipped are compiled for {BASELINE}, which this machine is not")
        os.environ["NUMBA_CACHE_DIR"] = str(SHIPPED)
        load_modules()
        wanted = {file_of(kernel) for kernel in KERNELS}
        for file in SHIPPED.glob("*.code"):
            if file.name not in wanted:
                file.unlink()
    places = missing()
    if places:
        where = SHIPPED if options.ship else cache_directory()
        print(f"compiling {len(places)} kernels into {where}: minutes, once", file=sys.stderr, flush=True)
        compile_all(places, options.workers)


if __name__ == "__main__":
    main()
