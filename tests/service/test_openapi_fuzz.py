"""The OpenAPI document against the service: schemathesis makes requests from it, and compares the answers.

It runs where schemathesis is installed, for FRESHET_FUZZ_SECONDS. No answer may be a fault of the service;
each has a status, a media type and a shape that the document has.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable

import httpx
import pytest

from tests.seeds import SEED
from tests.service.client import Process

SECONDS = int(os.environ.get("FRESHET_FUZZ_SECONDS", "60"))
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
)
SETUP = (
    "CREATE TABLE t (id BIGINT PRIMARY KEY, name TEXT); INSERT INTO t VALUES (1, 'x');"
    "CREATE VIEW v AS SELECT name, count(*) AS n FROM t GROUP BY name"
)


@pytest.mark.skipif(importlib.util.find_spec("schemathesis") is None, reason="schemathesis is not installed")
def test_answers_are_those_of_the_document(start: Callable[..., Process]) -> None:
    service = start(FRESHET_SPARK="never")
    service.wait_ready()
    assert httpx.post(f"{service.url}/v1/sql", json={"sql": SETUP}, timeout=240).status_code == 200
    command = [sys.executable, "-m", "schemathesis.cli", "run", f"{service.url}/openapi.json"]
    command += ["--checks", ",".join(CHECKS), "--phases", "coverage,fuzzing", "--continue-on-failure"]
    command += ["--max-time", str(SECONDS), "--seed", str(SEED), "--workers", "1", "--no-color"]
    answer = subprocess.run(command, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stdout
    assert httpx.get(f"{service.url}/readyz", timeout=240).status_code == 200
