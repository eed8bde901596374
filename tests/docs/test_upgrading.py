"""The copy that docs/upgrading.md describes is a service that can be started."""

import subprocess
from pathlib import Path

from tests.docs.markdown import blocks
from tests.service.client import Process

COPY, RESTORE = [block.text for block in blocks("docs/upgrading.md") if block.language == "sh"]


def test_a_copy_is_restored_as_the_guide_says(tmp_path: Path) -> None:
    data = tmp_path / "data"
    first = Process(data, {})
    try:
        first.wait_ready()
        script = (
            "CREATE TABLE t (a INT); CREATE VIEW v AS SELECT sum(a) AS s FROM t; INSERT INTO t VALUES (3)"
        )
        assert first.http.post("/v1/sql", json={"sql": script}).status_code == 200
        assert first.terminate() == 0
    finally:
        first.kill()
    *unpacking, start = RESTORE.strip().splitlines()
    assert start == "FRESHET_DATA=restored freshet serve"
    commands = "\n".join(["set -e", COPY, *unpacking])
    environment = {"FRESHET_DATA": str(data), "PATH": "/usr/bin:/bin"}
    subprocess.run(["bash", "-c", commands], cwd=tmp_path, env=environment, check=True)
    second = Process(tmp_path / "restored", {})
    try:
        second.wait_ready()
        assert second.http.get("/v1/views/v/rows").json()["rows"] == [{"s": 3}]
    finally:
        second.kill()
