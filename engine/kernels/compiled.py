"""Kernels: functions of declared types, compiled or loaded when they are first called.

Machine code is kept in files, under a name made of all that went into it: the sources of the kernel's module
and of every module that it imports kernels and constants from, the types, the processor, and the versions of
Python, numba and LLVM. So the code of another source is never run.

Files are looked for beside the sources, where the package brings them for the baseline processor, and then in
a cache of the user's, where what had to be compiled is put. `NUMBA_CACHE_DIR` names another cache.
"""

from __future__ import annotations

import ast
import hashlib
import os
import pickle
import sys
import tempfile
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba import njit
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

PACKAGE = Path(__file__).parent
SHIPPED = PACKAGE / "machine"
"""Machine code that the package brings."""
_VERSIONS = (sys.version_info[:2], numba.__version__, llvmlite.__version__)

KERNELS: list[Kernel] = []
"""All kernels of the modules that are imported, in the order in which they were declared."""


def kernel(signature: Any, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Declares a kernel of one signature, as `numba.njit` takes it. It runs without Python's lock."""

    def declare(function: Callable[..., Any]) -> Any:
        found = Kernel(function, signature, options)
        KERNELS.append(found)
        return found.dispatcher

    return declare


class Kernel:
    """A kernel: `dispatcher` is what is called, by Python and by other kernels."""

    def __init__(self, function: Callable[..., Any], signature: Any, options: dict[str, Any]) -> None:
        self.function = function
        self.signature = signature
        self.dispatcher = njit(nogil=True, **options)(function)
        self.files = Files(function, options)
        self.dispatcher._cache = self.files
        # numba asks these of a dispatcher that knows no code for some arguments.
        self.dispatcher._compile_for_args = self._called
        self.dispatcher.get_call_template = self._called_by_a_kernel

    def ready(self) -> None:
        """Loads the code, or compiles it. Any thread may call this, at any time."""
        own = self.dispatcher.__dict__
        if "_compile_for_args" in own:
            self.dispatcher.compile(self.signature)
            self.dispatcher.disable_compile()
            own.pop("_compile_for_args", None)
            own.pop("get_call_template", None)

    def _called(self, *args: Any, **kwargs: Any) -> Any:
        """What numba is to call with the arguments."""
        self.ready()
        return self.dispatcher

    def _called_by_a_kernel(self, args: Any, kwargs: Any) -> Any:
        self.ready()
        return self.dispatcher.get_call_template(args, kwargs)


class Files(_Cache):
    """A kernel's machine code on disk, as numba asks for it."""

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
        """Whether a file of the name is there."""
        return any((directory / name).exists() for directory in (SHIPPED, cache_directory()))

    def save_overload(self, sig: Any, cres: CompileResult) -> None:
        """Puts the code into the cache; a cache that cannot be written is done without."""
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
        """The name of the file: it changes with whatever the code is made of."""
        return f"{self.stem(sig)}-{_digest((_VERSIONS, codegen.magic_tuple()))}.code"

    def stem(self, sig: Any) -> str:
        """What the name says of the source."""
        return f"{self.kernel}-{_digest((_sources(self._module), self._options, str(sig)))}"

    @property
    def cache_path(self) -> str:
        return str(cache_directory())

    def enable(self) -> None:
        """There is nothing to be switched on."""

    def disable(self) -> None:
        """There is nothing to be switched off."""

    def flush(self) -> None:
        """There is nothing that waits to be written."""


def cache_directory() -> Path:
    """The directory of what was compiled on this machine."""
    given = os.environ.get("NUMBA_CACHE_DIR")
    if given:
        return Path(given)
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "freshet" / "kernels"


@cache
def _sources(module: str) -> str:
    """A digest of the module's code, and of that of the modules it imports from; comments do not count."""
    found: dict[str, str] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        path = PACKAGE.parents[1].joinpath(*name.split(".")).with_suffix(".py")
        if name not in found and path.exists():
            tree = _without_docstrings(ast.parse(path.read_bytes()))
            found[name] = ast.dump(tree)
            waiting += [
                node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module
            ]
    return _digest(sorted(found.items()))


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
