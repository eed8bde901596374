"""Who is let in: keys by SCRAM, TLS, older keys; limits of connections and of time; settings at the start."""

from __future__ import annotations

import base64
import hashlib
import hmac
import select
import shutil
import struct
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa

from service.accounts.account_tables import keys
from service.accounts.scram import ScramExchange, ScramMalformed, Verifier, WrongPassword
from service.process.certificates import Certificate
from service.settings.settings import Settings
from tests.pgwire.door import PostgresDoor, Raw, errors, fields, refused
from tests.service.client import PATIENCE
from tests.service.test_tls import make

SSL_REQUEST = struct.pack("!i", 80877103)


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[tuple[PostgresDoor, str]]:
    """A service with a key called `boss`, and the key."""
    with PostgresDoor(Settings(data=tmp_path / "data")) as door:
        _, text = door.runtime.accounts.add("boss", "admin")
        yield door, text


def test_a_key_is_shown_by_scram(guarded: tuple[PostgresDoor, str]) -> None:
    door, text = guarded
    id = text.split("_")[1]
    for user in ("boss", id, f"fr_{id}"):
        with door.connect(user=user, password=text) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
            assert connection.info.parameter_status("is_superuser") == "on"
    for user, password in (("boss", text[:-1] + "z"), ("nobody", text), ("boss", "x")):
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            door.connect(user=user, password=password)


def test_a_role_narrows_what_a_connection_may_do(guarded: tuple[PostgresDoor, str]) -> None:
    door, text = guarded
    with door.connect(user="boss", password=text) as boss:
        boss.execute("CREATE TABLE a (id INT)")
        boss.execute("CREATE TABLE b (id INT)")
        boss.execute("CREATE ROLE reader")
        boss.execute("GRANT SELECT ON a TO reader")
        key, reader_text = door.runtime.accounts.add("small", "reader")
        with door.connect(user="small", password=reader_text) as small:
            assert small.execute("SELECT * FROM a").fetchall() == []
            for sql in ("SELECT * FROM b", "INSERT INTO a VALUES (1)", "DROP TABLE a", "COPY b TO STDOUT"):
                with refused("42501"):
                    small.execute(sql)
            with refused("42501"), small.cursor().copy("COPY a FROM STDIN") as copy:
                copy.write_row((1,))
            small.execute("BEGIN")
            with refused("42501"):
                small.execute("DECLARE c CURSOR FOR SUBSCRIBE b")
            small.execute("ROLLBACK")
            door.runtime.accounts.revoke(key.id)
            with refused("28P01"):
                small.execute("SELECT * FROM a")


def test_both_secrets_are_good_while_a_key_is_rotated(guarded: tuple[PostgresDoor, str]) -> None:
    door, text = guarded
    id = text.split("_")[1]
    _, fresh = door.runtime.accounts.rotate(id, grace_seconds=60)
    for password in (text, fresh):
        door.connect(user="boss", password=password).close()
    _, newest = door.runtime.accounts.rotate(id)
    door.connect(user="boss", password=newest).close()
    with pytest.raises(psycopg.OperationalError):
        door.connect(user="boss", password=fresh)


def test_a_key_from_before_scram_is_sent_over_tls_alone(tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate")
    certificate = Certificate(*make(tmp_path, "served"))
    with PostgresDoor(Settings(data=tmp_path / "data"), lambda: certificate.context) as door:
        accounts = door.runtime.accounts
        _, text = accounts.add("boss", "admin")
        door.connect(user="boss", password=text, sslmode="require").close()
        with door.runtime.transaction() as transaction:
            transaction.execute(sa.update(keys).values(scram=None))
        accounts.read_again()
        with door.connect(user="boss", password=text, sslmode="require") as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
        with pytest.raises(psycopg.OperationalError, match="only be sent over TLS"):
            door.connect(user="boss", password=text, sslmode="disable")
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            door.connect(user="boss", password=text + "x", sslmode="require")


def test_plain_text_behind_the_request_for_tls_is_refused(tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate")
    certificate = Certificate(*make(tmp_path, "served"))
    with PostgresDoor(Settings(data=tmp_path / "data"), lambda: certificate.context) as door:
        raw = door.raw()
        startup = struct.pack("!i", 3 << 16) + b"user\0me\0\0"
        raw.socket.sendall(struct.pack("!i", 8) + SSL_REQUEST + struct.pack("!i", len(startup) + 4) + startup)
        assert errors(raw.until(b"E")) == ["08P01"]


def test_requests_for_encryption_are_answered(door: PostgresDoor) -> None:
    raw = door.raw()
    for code in (80877103, 80877104):
        raw.startup(struct.pack("!i", code))
        assert raw.socket.recv(1) == b"N"
    assert raw.start()[-1][0] == b"Z"


def test_a_newer_protocol_is_negotiated(door: PostgresDoor) -> None:
    raw = door.raw()
    found = raw.start(2, **{"_pq_.new": "x"})
    (negotiated,) = [body for type, body in found if type == b"v"]
    assert negotiated == struct.pack("!ii", 3 << 16, 1) + b"_pq_.new\0" and found[-1][0] == b"Z"


def test_settings_of_the_startup_hold(door: PostgresDoor) -> None:
    with door.connect(application_name="mine", options="-c statement_timeout=77 -c my.own=x") as connection:
        assert connection.execute("SHOW application_name").fetchone() == ("mine",)
        assert connection.execute("SHOW statement_timeout").fetchone() == ("77ms",)
        connection.execute("SET statement_timeout = 5000")
        connection.execute("RESET ALL")
        assert connection.execute("SHOW statement_timeout").fetchone() == ("77ms",)
    with pytest.raises(psycopg.OperationalError, match="encoding"):
        door.connect(client_encoding="latin1")
    raw = door.raw()
    assert errors(raw.start(replication="database")) == ["0A000"]


def test_connections_have_limits(tmp_path: Path) -> None:
    settings = Settings(
        data=tmp_path / "data",
        postgres_connections=2,
        postgres_message_bytes=1 << 16,
        postgres_statements=3,
        postgres_block_seconds=1,
    )
    with PostgresDoor(settings) as door:
        first, second = door.connect(), door.connect()
        with pytest.raises(psycopg.OperationalError, match="too many connections"):
            door.connect()
        silent = [door.raw() for _ in range(2)]
        assert errors(door.raw().until(b"E")) == ["53300"]  # it was not even asked who it is
        for raw in silent:
            raw.close()
        second.close()
        with refused("54000"):
            first.execute("SELECT '" + "x" * (1 << 17) + "'")
        with door.connect() as third:
            for name in "abc":
                third.execute(f"PREPARE {name} AS SELECT 1")
            with refused("53300"):
                third.execute("PREPARE d AS SELECT 1")
            third.execute("BEGIN")
            assert select.select([third.fileno()], [], [], PATIENCE)[0], (
                "the service does not end the session"
            )
            with refused("57P05"):
                third.execute("SELECT 1")


def test_who_says_nothing_is_let_go(tmp_path: Path) -> None:
    with PostgresDoor(Settings(data=tmp_path / "data", head_seconds=1)) as door:
        assert door.raw().message() is None


def test_a_service_that_ends_says_so(tmp_path: Path) -> None:
    with PostgresDoor(Settings(data=tmp_path / "data")) as door:
        raw = Raw(door.postgres_port)
        raw.start()
    found = raw.until(b"E")
    assert fields(found[-1][1])["C"] == "57P01" and raw.message() is None
    raw.close()


# SCRAM by itself


def salt_of(challenge: bytes) -> bytes:
    return base64.b64decode(dict(part.split("=", 1) for part in challenge.decode().split(","))["s"])


def proof_of(password: str, first: bytes, challenge: bytes) -> bytes:
    """The client's last message, by RFC 5802."""
    parts = dict(part.split("=", 1) for part in challenge.decode().split(","))
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt_of(challenge), int(parts["i"]))
    key = hmac.digest(salted, b"Client Key", "sha256")
    without = f"c=biws,r={parts['r']}"
    message = b",".join([first[3:], challenge, without.encode()])
    signature = hmac.digest(hashlib.sha256(key).digest(), message, "sha256")
    proof = bytes(a ^ b for a, b in zip(key, signature, strict=True))
    return f"{without},p={base64.b64encode(proof).decode()}".encode()


def test_scram_proves_a_password_and_nothing_else() -> None:
    first = b"n,,n=,r=abc"
    for password, fits in (("secret", True), ("wrong", False)):
        exchange = ScramExchange([Verifier.decode(Verifier.of("secret").encode())], b"m" * 16)
        final = proof_of(password, first, exchange.challenge(first))
        if fits:
            assert exchange.verify(final)[0].startswith(b"v=")
        else:
            with pytest.raises(WrongPassword):
                exchange.verify(final)


@pytest.mark.parametrize("first", [b"", b"p=tls,,n=,r=a", b"n,,n=", b"n,,m=x,n=,r=a", b"\xff", b"n,,"])
def test_scram_refuses_other_messages(first: bytes) -> None:
    with pytest.raises(ScramMalformed):
        ScramExchange([], b"m" * 16).challenge(first)


@pytest.mark.parametrize("final", [b"", b"c=biws,r=other,p=eA==", b"c=biws,r=%s,p=!", b"c=eSws,r=%s,p=eA=="])
def test_scram_refuses_a_last_message_that_does_not_follow(final: bytes) -> None:
    exchange = ScramExchange([Verifier.of("x")], b"m" * 16)
    nonce = exchange.challenge(b"n,,n=,r=abc").split(b",")[0][2:]
    with pytest.raises(ScramMalformed):
        exchange.verify(final.replace(b"%s", nonce))


def test_a_user_who_does_not_exist_has_a_salt_too() -> None:
    exchange = ScramExchange([], b"m" * 16)
    first = b"n,,n=,r=abc"
    challenge = exchange.challenge(first)
    assert salt_of(challenge) == b"m" * 16
    with pytest.raises(WrongPassword):
        exchange.verify(proof_of("", first, challenge))
