"""Clients of a service: one runs the app in this process, one starts `python -m service`."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path

import httpx

from engine.spark.sessions import Sessions
from service.app import create_app
from service.clock import Time, system_time
from service.running.runtime import Runtime
from service.settings.settings import Settings
from tests import compiled_statements
from tests.forked.forked_process import ForkedProcess, can_fork
from tests.ports import free_port
from tests.service import kept_workers
from tests.service.catalogs import put_catalog

Change = dict[str, dict[str, object]]
SERVICE = ("-m", "service")
PATIENCE = 600.0
"""Seconds in which a service starts on the busiest machine."""


kept_workers.keep()
compiled_statements.share()


class Client:
    """The app on an event loop in a thread. Calls wait for their responses."""

    def __init__(
        self,
        settings: Settings,
        sessions: Sessions | None = None,
        time: Time = system_time,
        postgres: socket.socket | None = None,
        certificate: Callable[[], ssl.SSLContext] | None = None,
    ) -> None:
        put_catalog(settings)
        self.time = time
        self.app = create_app(
            settings, sessions=sessions, time=time, postgres=postgres, certificate=certificate
        )
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)

    def __enter__(self) -> Client:
        self._thread.start()
        self._lifespan = self.app.router.lifespan_context(self.app)
        try:
            self.run(self._lifespan.__aenter__())
        except BaseException:
            self._stop()
            raise
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        self.http = httpx.AsyncClient(transport=transport, base_url="http://localhost")
        return self

    def __exit__(self, *error: object) -> None:
        self.run(self.http.aclose())
        self.run(self._lifespan.__aexit__(None, None, None))
        self.run(self._answered())
        self._stop()

    async def _answered(self) -> None:
        """Waits for the requests that the end of the app has answered, as a server does."""
        others = asyncio.all_tasks() - {asyncio.current_task()}
        if others:
            await asyncio.wait(others, timeout=PATIENCE)

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def runtime(self) -> Runtime:
        return self.app.state.runtime

    def run(self, work):
        """The result of a coroutine that runs on the app's loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE)

    def begin(self, work) -> Future:
        """The same, for one that is not waited for."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def together(self, *works) -> list:
        """The results, or exceptions, of coroutines that run at the same time."""

        async def gathered() -> list:
            return await asyncio.gather(*works, return_exceptions=True)

        return self.run(gathered())

    def get(self, path: str, **params: object) -> httpx.Response:
        accept = params.pop("accept", None)
        headers = {"Accept": str(accept)} if accept else {}
        return self.run(self.http.get(path, params=params, headers=headers))

    def post(self, path: str, json: object = None, **options) -> httpx.Response:
        if "content" not in options:
            options["json"] = json
        return self.run(self.http.post(path, **options))

    def delete(self, path: str) -> httpx.Response:
        return self.run(self.http.delete(path))

    def table(self, name: str, columns: Mapping[str, str], key: Sequence[str] = ()) -> None:
        """Creates a table. Fails if it is refused."""
        body = {
            "name": name,
            "columns": [{"name": n, "type": type} for n, type in columns.items()],
            "primary_key": list(key),
        }
        answer = self.post("/v1/tables", body)
        assert answer.status_code == 201, answer.text

    def view(self, name: str, sql: str) -> None:
        """Creates a view. Fails if it is refused."""
        answer = self.post("/v1/views", {"name": name, "sql": sql})
        assert answer.status_code == 201, answer.text

    def change(self, table: str, *changes: Change, **headers: str) -> int:
        """Changes a table and returns the epoch. Fails if the change is refused."""
        answer = self.deltas(table, *changes, **headers)
        assert answer.status_code == 200, answer.text
        return answer.json()["epoch"]

    def deltas(self, table: str, *changes: Change, **headers: str) -> httpx.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.post(f"/v1/tables/{table}/deltas", list(changes), headers=named)

    def insert(self, table: str, *rows: dict[str, object]) -> int:
        return self.change(table, *({"insert": row} for row in rows))

    def rows(self, name: str, **params: object) -> list[tuple]:
        """The rows of a table or view."""
        kind = "views" if self.runtime.definition(name).is_view else "tables"
        answer = self.get(f"/v1/{kind}/{name}/rows", **params)
        assert answer.status_code == 200, answer.text
        return [tuple(row.values()) for row in answer.json()["rows"]]


def code(answer: httpx.Response) -> tuple[int, str]:
    """The status and code of a problem. Checks the problem's shape."""
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    problem = answer.json()
    assert {"type", "title", "status", "detail", "code", "hint"} <= problem.keys()
    assert problem["status"] == answer.status_code
    return answer.status_code, problem["code"]


class Process:
    """A service in a process of its own, on the loopback: on `FRESHET_PORT`, or on a free port.

    `http` is a client of it, and `verify` trusts the certificate that the environment names. `program` is
    what Python runs. Its output goes to a file, so that it never waits for a reader. The process is forked
    from one that has loaded the service, unless it is to be `fresh`: then a new interpreter loads it, as for
    users.
    """

    def __init__(
        self,
        data: Path,
        environment: Mapping[str, str],
        program: Sequence[str] = SERVICE,
        *,
        fresh: bool = False,
    ) -> None:
        given = environment.get("FRESHET_PORT", "")
        self.port = int(given) if given.isdecimal() else free_port()
        certificate = environment.get("FRESHET_TLS_CERTIFICATE")
        self.url = f"{'https' if certificate else 'http'}://127.0.0.1:{self.port}"
        self.verify = ssl.create_default_context(cafile=certificate) if certificate else False
        self.http = httpx.Client(base_url=self.url, timeout=240, verify=self.verify)
        self._output = tempfile.TemporaryFile()  # noqa: SIM115
        env = {
            **os.environ,
            "FRESHET_DATA": str(data),
            "FRESHET_PORT": str(self.port),
            "FRESHET_POSTGRES_PORT": "0",
            **environment,
        }
        self._process: subprocess.Popen[bytes] | ForkedProcess
        if fresh or not can_fork(program, env):
            command = [sys.executable, *program]
            self._process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=self._output)
        else:
            if program == SERVICE:
                put_catalog(Settings(data=data, database_url=env.get("FRESHET_DATABASE_URL", "")))
            self._process = ForkedProcess(program, env, self._output.fileno())

    def wait_ready(self, seconds: float = PATIENCE) -> None:
        """Waits until `/readyz` is 200. Raises RuntimeError with the output if the process ends before."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self._process.poll() is not None:
                raise RuntimeError(f"the service ended:\n{self.output()}")
            try:
                if self.http.get("/readyz").status_code == 200:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.02)
        os.kill(self.pid, signal.SIGABRT)  # Python's fault handler, if it is on, says what the threads do
        self._process.wait(240)
        raise RuntimeError(f"the service is not ready after {seconds} s:\n{self.output()}")

    def terminate(self) -> int:
        """Sends SIGTERM. Returns the exit code."""
        self._process.terminate()
        return self._end()

    def finish(self) -> str:
        """Sends SIGTERM. Returns the output."""
        self._process.terminate()
        return self.wait(240)[1]

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    @property
    def pid(self) -> int:
        return self._process.pid

    def kill(self) -> None:
        """Sends SIGKILL."""
        self._process.kill()
        self._end()

    def wait(self, seconds: float) -> tuple[int, str]:
        """The exit code and the output of a process that ends by itself."""
        return self._end(seconds), self.output()

    def output(self) -> str:
        """What the service has written so far."""
        if self._output.closed:
            return self._written
        size = os.fstat(self._output.fileno()).st_size
        return os.pread(self._output.fileno(), size, 0).decode(errors="replace")

    def _end(self, seconds: float = PATIENCE) -> int:
        code = self._process.wait(seconds)
        self._written = self.output()
        self._output.close()
        self.http.close()
        return code
