"""`freshet demo`: the main job over the packages of Debian 12, step by step, with its curl commands.

Every command that is printed is sent, as printed, and its answer follows, shortened.
The service stays in the background. Running it again keeps the data directory: tables
and their rows stay, and the views and the advisory of the earlier run make room.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from service.demo.background import Background, CannotStart, url
from service.demo.client import CurlAnswer, CurlCall

HERE = Path(__file__).resolve().parent
TABLES = ("packages", "depends", "advisories")
ADVISORY = {"id": "DSA-5497-1", "package": "libwebp7", "severity": "high"}
REACHED, DROPPED, BRANCH = "firefox-esr", "libtiff6", "what_if"
STATEMENT = re.compile(r"^CREATE (TABLE|VIEW) (\w+)(?: AS)?\s+(.*?);$", re.DOTALL | re.MULTILINE)


class StepFailed(Exception):
    """A call was refused."""


@dataclass(frozen=True)
class Demo:
    """The story. `base` is the service's URL, `directory` has the two files of data."""

    base: str
    directory: Path = HERE

    def tell(self) -> None:
        self._make_room()
        self._load()
        self._register(
            "affected", "Register a view: what an advisory reaches through any chain of dependencies"
        )
        before = self._publish()
        self._retract(before)
        self._views_over_views()
        self._why()
        self._what_if()
        self._cycles()

    def _load(self) -> None:
        headline("Make three tables and load the packages of Debian 12: a file, a request, an epoch")
        there = {table["name"] for table in self._ask("/v1/tables").json["tables"]}
        for name, statement in statements("tables.sql").items():
            if name not in there:
                self._post("/v1/tables", {"sql": statement})
        for name in ("packages", "depends"):
            if rows := self._count(name):
                print(f"\n{name} has its {rows:,} rows from an earlier run.")
                continue
            path = Path(os.path.relpath(self.directory / f"{name}.parquet"))
            headers = {"Content-Type": "application/vnd.apache.parquet"}
            self._show(CurlCall("POST", f"{self.base}/v1/tables/{name}/deltas", path, headers))

    def _register(self, name: str, title: str) -> None:
        headline(title)
        self._post("/v1/views", {"name": name, "sql": statements("views.sql")[name]})

    def _publish(self) -> int:
        """Posts the advisory; the epoch at which it is there."""
        headline(
            f"An advisory for {ADVISORY['package']} comes in; the view is up to date when the call returns"
        )
        epoch = self._post("/v1/tables/advisories/deltas", [{"insert": ADVISORY}]).json["epoch"]
        headline("Read the packages that it reaches")
        self._get("/v1/views/affected/rows", {"limit": "5"})
        self._post("/v1/sql", {"sql": "SELECT count(*) AS affected FROM affected"})
        return epoch

    def _retract(self, before: int) -> None:
        headline("Retract the advisory, and read again")
        deletion = [{"delete": {"id": ADVISORY["id"]}}]
        after = self._post("/v1/tables/advisories/deltas", deletion).json["epoch"]
        self._get("/v1/views/affected/rows", {"limit": "5"})
        headline("Read the epoch before, and what has changed since")
        self._get("/v1/views/affected/rows", {"as_of": str(before), "limit": "5"})
        self._get("/v1/views/affected/changes", {"since": str(before), "until": str(after)})

    def _views_over_views(self) -> None:
        self._register("reinstall", "A view over the view: what every section would have to reinstall")
        self._post("/v1/views", {"name": "edges", "sql": statements("views.sql")["edges"]})
        self._register("distance", "A recursion with min: the shortest way from a package to an advisory")
        headline("The advisory is back; both know")
        self._post("/v1/tables/advisories/deltas", [{"insert": ADVISORY}])
        self._get("/v1/views/reinstall/rows", {"order_by": "kib DESC", "limit": "5"})
        self._get("/v1/views/distance/rows", {"where": "package = 'gimp' OR package = 'libreoffice-writer'"})

    def _why(self) -> None:
        headline(f"Why does it reach {REACHED}? Nothing was kept for the question: rows of tables answer it")
        row = json.dumps({"package": REACHED})
        self._get("/v1/views/affected/why", {"row": row, "format": "text"})

    def _what_if(self) -> None:
        headline(f"What if {DROPPED} were dropped? A branch has all rows and views, and copies none of them")
        self._post("/v1/branches", {"name": BRANCH})
        drop = f"DELETE FROM depends WHERE package = '{DROPPED}'"
        self._post("/v1/sql", {"branch": BRANCH, "sql": drop})
        headline("How the answers differ; the cost follows the difference")
        self._get(f"/v1/branches/{BRANCH}/diff", {"view": "reinstall", "limit": "5"})
        spared = f"SELECT count(*) AS spared FROM diff(affected, 'main', '{BRANCH}') WHERE _diff < 0"
        self._post("/v1/sql", {"sql": spared})
        headline("Merge the branch: its changes are one epoch")
        epoch = self._post(f"/v1/branches/{BRANCH}/merge", {"on_conflict": "fail"}).json["epoch"]
        headline(f"What moved {REACHED}, and when")
        row = json.dumps({"advisory": ADVISORY["id"], "package": REACHED})
        self._get("/v1/views/affected/why-changed", {"row": row, "since": str(epoch - 1)})
        headline("Take it back: the rows that were there in the epoch before")
        before = f"SELECT * FROM depends FOR SYSTEM_TIME AS OF {epoch - 1}"
        back = f"INSERT INTO depends {before} EXCEPT ALL SELECT * FROM depends"
        self._post("/v1/sql", {"sql": f"{back}; DROP BRANCH {BRANCH}"})

    def _cycles(self) -> None:
        headline("What would a recursion over what is taken away cost? Samples of the tables answer it")
        entangled = {"name": "entangled", "sql": statements("views.sql")["entangled"]}
        self._post("/v1/views?dry_run=true", entangled)
        headline(
            "The packages that need themselves, by recursions in a recursion (line by line in views.sql)"
        )
        for name in ("entangled", "knots", "cycles"):
            self._post("/v1/views", {"name": name, "sql": statements("views.sql")[name]})
        self._get("/v1/views/cycles/rows", {"where": "component = 'libc6'"})

    def _make_room(self) -> None:
        """Drops the branch and the views of an earlier run, the ones that read others first, and takes its
        advisory back."""
        self._ask("/v1/sql", "POST", {"sql": f"DROP BRANCH IF EXISTS {BRANCH}"})
        there = {view["name"] for view in self._ask("/v1/views").json["views"]}
        for name in reversed(statements("views.sql")):
            if name in there:
                self._ask(f"/v1/views/{name}", "DELETE")
        if "advisories" in {table["name"] for table in self._ask("/v1/tables").json["tables"]}:
            self._ask("/v1/sql", "POST", {"sql": f"DELETE FROM advisories WHERE id = '{ADVISORY['id']}'"})

    def _count(self, table: str) -> int:
        answer = self._ask("/v1/sql", "POST", {"sql": f"SELECT count(*) FROM {table}"})
        return answer.json["results"][0]["rows"][0][0]

    def _get(self, path: str, query: Mapping[str, str]) -> CurlAnswer:
        return self._show(CurlCall("GET", self.base + path, query=query))

    def _post(self, path: str, body: object) -> CurlAnswer:
        return self._show(CurlCall("POST", self.base + path, body))

    def _show(self, call: CurlCall) -> CurlAnswer:
        print(f"\n$ {call.command}", flush=True)
        begun = time.perf_counter()
        answer = call.send()
        elapsed = (time.perf_counter() - begun) * 1000
        print(f"{answer.excerpt()}\n# {answer.status}, {elapsed:,.0f} ms", flush=True)
        return accepted(call, answer)

    def _ask(self, path: str, method: str = "GET", body: object = None) -> CurlAnswer:
        """A call that is not part of the story."""
        call = CurlCall(method, self.base + path, body)
        return accepted(call, call.send())


def accepted(call: CurlCall, answer: CurlAnswer) -> CurlAnswer:
    if not answer.ok:
        raise StepFailed(f"{call.method} {call.url} was answered {answer.status}: {answer.text}")
    return answer


def headline(text: str) -> None:
    print(f"\n== {text}", flush=True)


def statements(file: str) -> dict[str, str]:
    """An SQL file's statements by the name they create, on one line: a table's whole, a view's query."""
    text = re.sub(r"^--.*\n", "", (HERE / file).read_text(), flags=re.MULTILINE)
    found = {}
    for match in STATEMENT.finditer(text):
        kind, name, rest = match.groups()
        line = " ".join((match.group(0).rstrip(";") if kind == "TABLE" else rest).split())
        found[name] = line.replace("( ", "(").replace(" )", ")")
    return found


def show(background: Background) -> int:
    """Starts the service in the background and tells the story; 0, or 1 with the reason on standard error."""
    host = os.environ.get("FRESHET_HOST", "127.0.0.1")
    port = int(os.environ.get("FRESHET_PORT", "8000"))
    data = os.environ.get("FRESHET_DATA", str(background.directory / "data"))
    base = url(host, port)
    if (earlier := background.stop()) is not None:
        print(f"Stopped the service of an earlier run, pid {earlier}.")
    print(f"Starting Freshet at {base}, data in {data} ...", flush=True)
    try:
        pid = background.start(host, port, os.environ | {"FRESHET_DATA": data})
    except CannotStart as error:
        print(f"freshet demo: {error}", file=sys.stderr)
        return 1
    try:
        Demo(base).tell()
    except StepFailed as error:
        print(f"freshet demo: {error}", file=sys.stderr)
        return 1
    finally:
        print(f"\nFreshet goes on at {base} (its API at {base}/docs), pid {pid}, log {background.log_file}.")
        print("To stop it: make stop, or freshet demo --stop", flush=True)
    return 0


def stop(background: Background) -> int:
    """Ends the service that `show` left running, if it runs."""
    pid = background.stop()
    print("nothing to stop" if pid is None else f"stopped the service, pid {pid}")
    return 0
