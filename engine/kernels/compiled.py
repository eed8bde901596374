"""Kernels: functions of declared types, compiled or loaded on their first call.

Machine code is kept in files whose names are made of everything that determines it: the sources of the
kernel's module and of every module that it imports kernels and constants from, the types, the processor, and
the versions of Python, numba and LLVM. So code of other sources never runs.

Files are looked up first beside the sources, where the package has them for the baseline processor, and then
in a cache of the user's, where newly compiled code goes. `NUMBA_CACHE_DIR` names another cache.
"""

from __future__ import annotations

import ast
import hashlib
import os
import pickle
import sys
import tempfile
import threading
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from time import thread_time
from typing import Any

import llvmlite
import numba
from numba import njit
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

PACKAGE = Path(__file__).parent
SHIPPED = PACKAGE / "machine"
"""The package's own machine code."""
_OURS = __name__.partition(".")[0]
_VERSIONS = (sys.version_info[:2], numba.__version__, llvmlite.__version__)

_COMPILING = threading.RLock()
"""Held while a kernel is loaded or compiled, which may need others; taken before numba's own lock."""

KERNELS: list[Kernel] = []
"""All kernels of imported modules, in the order in which they were declared."""


class _Spent(threading.local):
    seconds = 0.0


_spent = _Spent()


def loading_seconds() -> float:
    """The processor time that this thread has taken to load and compile kernels."""
    return _spent.seconds


def kernel(signature: Any, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Declares a kernel with one signature, in the form of `numba.njit`. It runs without Python's lock."""

    def declare(function: Callable[..., Any]) -> Any:
        found = Kernel(function, signature, options)
        KERNELS.append(found)
        return found.dispatcher

    return declare


def load(*dispatchers: Any) -> None:
    """Loads the code of kernels, so that their first calls need not wait for it. Any thread may call this."""
    for kernel in KERNELS:
        if kernel.dispatcher in dispatchers:
            kernel.ready()


class Kernel:
    """A kernel; Python and other kernels call its `dispatcher`."""

    def __init__(self, function: Callable[..., Any], signature: Any, options: dict[str, Any]) -> None:
        self.function = function
        self.signature = signature
        options = {"nogil": True, **options}
        self.dispatcher = njit(**options)(function)
        self.files = Files(function, options)
        self.dispatcher._cache = self.files
        # numba calls these on a dispatcher that has no code for some arguments.
        self.dispatcher._compile_for_args = self._called
        self.dispatcher.get_call_template = self._called_by_a_kernel

    def ready(self) -> None:
        """Loads the code, or compiles it. Any thread may call this, at any time."""
        with _COMPILING:
            own = self.dispatcher.__dict__
            if "_compile_for_args" in own:
                before, began = _spent.seconds, thread_time()
                self.dispatcher.compile(self.signature)
                self.dispatcher.disable_compile()
                del own["_compile_for_args"], own["get_call_template"]
                _spent.seconds = before + thread_time() - began  # with those that it needed

    def _called(self, *args: Any, **kwargs: Any) -> Any:
        """Returns what numba should call with the arguments."""
        self.ready()
        return self.dispatcher

    def _called_by_a_kernel(self, args: Any, kwargs: Any) -> Any:
        self.ready()
        return self.dispatcher.get_call_template(args, kwargs)


class Files(_Cache):
    """A kernel's machine code on disk, in the form that numba asks for."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self._module = function.__module__
        self.kernel = f"{self._module.rsplit('.', 1)[-1]}.{function.__qualname__}"
        self._options = sorted(options.items())

    def load_overload(self, sig: Any, target_context: Any) -> CompileResult | None:
        target_context.refresh()
        name = self.name(sig, target_context.codegen())
        for directory in (SHIPPED, cache_directory()):
            try:
                code = pickle.loads(zlib.decompress((directory / name).read_bytes()))
            except (OSError, zlib.error, pickle.UnpicklingError, EOFError):
                continue
            return CompileResult._rebuild(target_context, *code)
        return None

    @staticmethod
    def is_there(name: str) -> bool:
        """Whether a file of this name exists."""
        return any((directory / name).exists() for directory in (SHIPPED, cache_directory()))

    def save_overload(self, sig: Any, cres: CompileResult) -> None:
        """Write the code to the cache; ignore a cache that cannot be written."""
        code = zlib.compress(dumps(cres._reduce()), 9)
        path = cache_directory() / self.name(sig, cres.codegen)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
                file.write(code)
            os.replace(file.name, path)
        except OSError:
            return

    def name(self, sig: Any, codegen: Any) -> str:
        """The name of the file; it changes with everything that determines the code."""
        return f"{self.stem(sig)}-{_digest((_VERSIONS, codegen.magic_tuple()))}.code"

    def stem(self, sig: Any) -> str:
        """The part of the name that depends on the source."""
        return f"{self.kernel}-{_digest((_sources(self._module), self._options, str(sig)))}"

    @property
    def cache_path(self) -> str:
        return str(cache_directory())

    def enable(self) -> None:
        """Does nothing: the cache is always on."""

    def disable(self) -> None:
        """Does nothing: the cache is always on."""

    def flush(self) -> None:
        """Does nothing: code is written at once."""


def cache_directory() -> Path:
    """The directory for code that was compiled on this machine."""
    given = os.environ.get("NUMBA_CACHE_DIR")
    if given:
        return Path(given)
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "freshet" / "kernels"


@cache
def _sources(module: str) -> str:
    """A digest of the code of the module and of the modules it imports from; comments do not count.

    Nor does this module: what of it determines machine code stands in the options.
    """
    found: dict[str, str] = {__name__: ""}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in found and (source := _source(name)) is not None:
            found[name], imported = source
            waiting += imported
    return _digest(sorted(found.items()))


@cache
def _source(module: str) -> tuple[str, list[str]] | None:
    """The code of a module without docstrings, and the modules that it imports, or imports names from, as far
    as they are ours; None if it is not. Each is parsed once, because most modules import the same ones."""
    if module.partition(".")[0] != _OURS:  # others lie beside ours where a wheel is installed
        return None
    path = PACKAGE.parents[1].joinpath(*module.split(".")).with_suffix(".py")
    if not path.exists():
        return None
    tree = _without_docstrings(ast.parse(path.read_bytes()))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    modules = [f"{node.module}.{each.name}" for node in imports for each in node.names]
    return ast.dump(tree), [*(node.module for node in imports if node.module), *modules]


def _without_docstrings(tree: ast.AST) -> ast.AST:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef):
            node.body = [each for each in node.body if not _is_text(each)]
    return tree


def _is_text(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _digest(made_of: object) -> str:
    return hashlib.sha256(repr(made_of).encode()).hexdigest()[:20]
