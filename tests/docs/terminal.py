"""Types what a document shows, and compares the answers with what a terminal, or a pipe, gets.

It knows the commands that `Terminal` has hands for; others are not run, and nothing may be shown as their
answer. A block of `python` is a program, and what it prints stands below it. Below `freshet sql` alone stands
a conversation with its shell: what is behind a prompt is typed, and the other lines are compared.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput
from rich.console import Console

import freshet
from freshet.command.application import main
from freshet.command.shell.shell import converse
from tests.curl import parse
from tests.docs.markdown import ROOT
from tests.docs.transcript import Step, matches, shown_status, steps

ADDRESS = re.compile(r"http://(?:localhost|127\.0\.0\.1):8000")
TYPED = re.compile(r"^(?:freshet> |      \.\. )(.*)\n", re.MULTILINE)
WIDTH = 120
SETTING = re.compile(r"export (\w+)=\$\((.*)\)")


class Shown(io.TextIOWrapper):
    """What is written to a terminal, or to a pipe."""

    def __init__(self, is_terminal: bool) -> None:
        self._written = io.BytesIO()
        super().__init__(self._written, encoding="utf-8", newline="", write_through=True)
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal

    def text(self) -> str:
        """The lines without the spaces at their ends."""
        return "\n".join(line.rstrip() for line in self._written.getvalue().decode().splitlines())


class Terminal:
    """A person's terminal in a directory, beside a service that stands for the one of the document."""

    def __init__(
        self, url: str, directory: Path, monkeypatch: pytest.MonkeyPatch, is_pipe: bool = False
    ) -> None:
        self._url = url
        self._directory = directory
        self._environment = monkeypatch
        self._is_terminal = not is_pipe
        self._known: dict[str, Any] = {"__name__": "document"}
        self._hands: dict[str, Callable[[Step], str]] = {
            "freshet": self._freshet,
            "curl": self._curl,
            "printf": self._printf,
            "cat": lambda step: Path(step.command.split()[1]).read_text(),
            "export": self._export,
        }
        for name, value in {"FRESHET_URL": url, "TERM": "dumb", "COLUMNS": str(WIDTH)}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(directory)
        monkeypatch.setattr("sys.stdin", io.StringIO(""))

    def play(self, document: str, *, programs_alone: bool = False) -> int:
        """Types the whole document, or runs its programs alone; how many answers were compared."""
        compared = 0
        for step in steps(document, "python"):
            if programs_alone and step.language == "sh":
                continue
            hand = self._python if step.language == "python" else self._hands.get(step.command.split()[0])
            if hand is None:
                assert step.shown is None, f"{document}: {step.command} is not run, but has an answer"
                continue
            printed = hand(step)
            if step.shown is not None:
                shown = replace(step.shown, text=TYPED.sub("", step.shown.text))
                assert matches(shown, printed), f"{document}:{shown.line}\n{printed}"
                compared += 1
        return compared

    def _freshet(self, step: Step) -> str:
        words = self._words(step.command)
        if words == ["freshet", "sql"]:
            return self._converse(step)
        code, out, errors = self._main(words[1:], self._is_terminal)
        fails = step.shown is not None and step.shown.text.startswith("error: ")
        assert code == int(fails), f"{step.command}\n{errors}"
        return f"{errors}\n{out}" if self._is_terminal else errors if fails else out

    def _words(self, command: str) -> list[str]:
        return shlex.split(ADDRESS.sub(self._url, os.path.expandvars(command)), comments=True)

    def _main(self, words: list[str], is_terminal: bool) -> tuple[int, str, str]:
        """The exit code of the command line, its standard output and its standard error."""
        out, errors = Shown(is_terminal), Shown(False)
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(errors),
            pytest.raises(SystemExit) as ended,
        ):
            main(words)
        code = ended.value.code
        if isinstance(code, str):  # the sentence that ends the process
            return 1, out.text(), code
        return int(code or 0), out.text(), errors.text()

    def _converse(self, step: Step) -> str:
        """Types the lines behind prompts into the shell. What it answers, without them."""
        assert step.shown is not None, "a shell is shown with what is typed into it"
        shown = Shown(False)
        with (
            freshet.connect(self._url, os.environ.get("FRESHET_KEY")) as connection,
            create_pipe_input() as keys,
        ):
            keys.send_text("".join(f"{line}\r" for line in TYPED.findall(step.shown.text)))
            converse(
                connection,
                console=Console(file=shown, width=WIDTH),
                history=self._directory / "history",
                input=keys,
                output=DummyOutput(),
            )
        return shown.text()

    def _curl(self, step: Step) -> str:
        request = parse(os.path.expandvars(step.command), ROOT)
        url = ADDRESS.sub(self._url, request.url)
        answer = httpx.request(
            request.method, url, headers=request.headers, content=request.body, timeout=240, verify=False
        )
        refused = step.shown is not None and shown_status(step.shown) >= 400
        assert (answer.status_code >= 400) == refused, f"{step.command}\n{answer.text}"
        return answer.text

    def _printf(self, step: Step) -> str:
        """`printf 'text' > file`."""
        words = shlex.split(step.command)
        Path(words[-1]).write_text(words[1].replace("\\n", "\n"))
        return ""

    def _export(self, step: Step) -> str:
        """A variable; `$(...)` is what a command prints. The search path is the person's own."""
        setting = SETTING.fullmatch(step.command)
        if setting is None:
            assert step.command.startswith("export PATH="), step.command
            return ""
        code, out, errors = self._main(self._words(setting[2])[1:], is_terminal=False)
        assert code == 0, f"{step.command}\n{errors}"
        self._environment.setenv(setting[1], out)
        return ""

    def _python(self, step: Step) -> str:
        printed = Shown(self._is_terminal)
        program = "\n" * (step.line - 1) + ADDRESS.sub(self._url, step.command)
        with contextlib.redirect_stdout(printed):
            exec(compile(program, "document", "exec"), self._known)
        if step.shown is None:
            assert not printed.text(), f"line {step.line} shows nothing of\n{printed.text()}"
        return printed.text()
