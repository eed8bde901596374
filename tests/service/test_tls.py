"""TLS: a certificate is served, replaced on SIGHUP while connections are open, and refused if it is none."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from service.process.certificates import Certificate
from service.settings.settings import Settings
from tests.service.client import Process
from tests.service.waiting import wait_until

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificates")


def make(directory: Path, name: str) -> tuple[str, str]:
    """A certificate for the loopback that signs itself, and its key."""
    certificate, key = directory / f"{name}.pem", directory / f"{name}.key"
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
    ]
    command += ["-keyout", str(key), "-out", str(certificate), "-days", "2", "-subj", f"/CN={name}"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(command, check=True, capture_output=True)
    return str(certificate), str(key)


def connect(port: int) -> ssl.SSLSocket:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context.wrap_socket(socket.create_connection(("127.0.0.1", port), 30))


def ask(connection: ssl.SSLSocket) -> bytes:
    """The status line of /healthz on an open connection, whose body is read too."""
    connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    answer = b""
    while b'"ok"' not in answer:
        answer += connection.recv(4096)
    return answer.split(b"\r\n")[0]


def test_a_certificate_is_replaced_while_connections_are_open(
    start: Callable[..., Process], tmp_path: Path
) -> None:
    first, second = make(tmp_path, "first"), make(tmp_path, "second")
    served = tmp_path / "served.pem", tmp_path / "served.key"
    for file, place in zip(first, served, strict=True):
        shutil.copy(file, place)
    service = start(
        FRESHET_TLS_CERTIFICATE=str(served[0]), FRESHET_TLS_KEY=str(served[1]), FRESHET_SPARK="never"
    )
    end = time.monotonic() + 120
    while True:
        try:
            old = connect(service.port)
            break
        except OSError:
            assert time.monotonic() < end, service.output()
            time.sleep(0.05)
    shown = old.getpeercert(binary_form=True)
    assert shown == ssl.PEM_cert_to_DER_cert(Path(first[0]).read_text())
    assert ask(old) == b"HTTP/1.1 200 OK"

    def reload(text: str) -> None:
        before = service.output().count(text)
        subprocess.run(["kill", "-HUP", str(service.pid)], check=True)
        while service.output().count(text) == before:
            assert time.monotonic() < end, service.output()
            time.sleep(0.02)

    for file, place in zip(second, served, strict=True):
        shutil.copy(file, place)
    reload("was read again")
    with connect(service.port) as new:
        assert new.getpeercert(binary_form=True) == ssl.PEM_cert_to_DER_cert(Path(second[0]).read_text())
        assert ask(new) == b"HTTP/1.1 200 OK"
        assert new.version() in ("TLSv1.2", "TLSv1.3")
    shutil.copy(first[1], served[1])  # the key of another certificate
    reload("stays as it was")
    with connect(service.port) as new:
        assert new.getpeercert(binary_form=True) == ssl.PEM_cert_to_DER_cert(Path(second[0]).read_text())
    assert ask(old) == b"HTTP/1.1 200 OK", "what was open goes on"
    old.close()
    with socket.create_connection(("127.0.0.1", service.port), 30) as plain:
        plain.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b"200" not in plain.recv(100), "nothing is served without TLS"


def test_a_handshake_has_the_time_of_a_head(start: Callable[..., Process], tmp_path: Path) -> None:
    """Connections that say nothing, or half a greeting, end as slow heads do; others are served meanwhile."""
    certificate, key = make(tmp_path, "slow")
    limits = {"FRESHET_HEAD_SECONDS": "2", "FRESHET_SPARK": "never"}
    service = start(FRESHET_TLS_CERTIFICATE=certificate, FRESHET_TLS_KEY=key, **limits)

    def answers() -> bool:
        with suppress(OSError), connect(service.port) as connection:
            return ask(connection) == b"HTTP/1.1 200 OK"
        return False

    wait_until(answers, 120)
    silent = [socket.create_connection(("127.0.0.1", service.port), 30) for _ in range(20)]
    for connection in silent[10:]:
        connection.sendall(b"\x16\x03\x01\x02\x00\x01")
    assert answers()
    began = time.monotonic()
    for connection in silent:
        with suppress(ConnectionError):
            while connection.recv(100):
                pass
        connection.close()
    assert time.monotonic() - began < 20, "the default is a minute"


def test_what_is_no_certificate_is_a_sentence(tmp_path: Path) -> None:
    certificate, key = make(tmp_path, "one")
    other = make(tmp_path, "other")[1]
    nonsense = tmp_path / "nonsense"
    nonsense.write_text("nonsense")
    locked = str(tmp_path / "locked.key")
    command = ["openssl", "pkcs8", "-topk8", "-in", key, "-out", locked, "-passout", "pass:secret"]
    subprocess.run(command, check=True, capture_output=True)
    for files in (
        (certificate, other),
        (certificate, str(nonsense)),
        (str(nonsense), key),
        (certificate, str(tmp_path / "none")),
        (certificate, locked),
    ):
        with pytest.raises(ValueError, match="FRESHET_TLS_CERTIFICATE") as failed:
            Certificate(*files)
        assert "\n" not in str(failed.value)
    Certificate(certificate, key)


def test_the_settings_go_together() -> None:
    for given in ({"tls_key": "k"}, {"tls_certificate": "c"}):
        with pytest.raises(ValueError, match="FRESHET_TLS_KEY"):
            Settings(**given)
