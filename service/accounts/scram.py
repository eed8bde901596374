"""SCRAM-SHA-256 (RFC 5802, RFC 7677) as the server speaks it: without input or output of its own.

The server keeps of a password a salt, a number of iterations and two keys, with which nobody can log in
elsewhere. A user who does not exist gets a salt too, always the same one, so that nobody learns who exists.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

MECHANISM = "SCRAM-SHA-256"
ITERATIONS = 4096
_SALT_BYTES, _NONCE_BYTES = 16, 18


class WrongPassword(Exception):
    """The client does not know the password, or the user has none that fits."""


class ScramMalformed(Exception):
    """A message of the client is not one of SCRAM."""


@dataclass(frozen=True)
class Verifier:
    """What is kept of a password."""

    salt: bytes
    iterations: int
    stored_key: bytes
    server_key: bytes

    @classmethod
    def of(cls, password: str, salt: bytes | None = None) -> Verifier:
        salt = salt or secrets.token_bytes(_SALT_BYTES)
        salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, ITERATIONS)
        stored = hashlib.sha256(_hmac(salted, b"Client Key")).digest()
        return cls(salt, ITERATIONS, stored, _hmac(salted, b"Server Key"))

    def encode(self) -> str:
        """The text of PostgreSQL's `pg_authid.rolpassword`."""
        salt, stored, server = (_b64(part) for part in (self.salt, self.stored_key, self.server_key))
        return f"{MECHANISM}${self.iterations}:{salt}${stored}:{server}"

    @classmethod
    def decode(cls, text: str) -> Verifier:
        _, head, keys = text.split("$")
        iterations, salt = head.split(":")
        stored, server = keys.split(":")
        return cls(_bytes(salt), int(iterations), _bytes(stored), _bytes(server))


class ScramExchange:
    """One authentication. `verifiers` are of the passwords that are valid, all with one salt; none for a user
    who has none, or does not exist."""

    def __init__(self, verifiers: Sequence[Verifier], mock_salt: bytes) -> None:
        self._verifiers = verifiers
        first = verifiers[0] if verifiers else None
        self._salt = mock_salt if first is None else first.salt
        self._iterations = ITERATIONS if first is None else first.iterations
        self._first = self._bare = self._nonce = ""
        self._header = ""

    def challenge(self, client_first: bytes) -> bytes:
        """The answer to the client's first message."""
        text = _decoded(client_first)
        flag, separator, rest = text.partition(",")
        if flag not in ("n", "y") or not separator:
            raise ScramMalformed("channel binding is not offered here")
        authority, separator, bare = rest.partition(",")
        parts = dict(part.split("=", 1) for part in bare.split(",") if "=" in part)
        if not separator or "r" not in parts or "n" not in parts or "m" in parts:
            raise ScramMalformed("the first message of SCRAM has no nonce")
        self._header = f"{flag},{authority},"
        self._bare = bare
        self._nonce = parts["r"] + _b64(secrets.token_bytes(_NONCE_BYTES))
        self._first = f"r={self._nonce},s={_b64(self._salt)},i={self._iterations}"
        return self._first.encode()

    def verify(self, client_final: bytes) -> tuple[bytes, int]:
        """The answer to the client's last message, and the place of the verifier that fits. Raises
        WrongPassword."""
        text = _decoded(client_final)
        without, separator, proof = text.rpartition(",p=")
        parts = dict(part.split("=", 1) for part in without.split(",") if "=" in part)
        if not separator or parts.get("r") != self._nonce or parts.get("c") != _b64(self._header.encode()):
            raise ScramMalformed("the last message of SCRAM does not follow from the first")
        message = f"{self._bare},{self._first},{without}".encode()
        given = _bytes(proof)
        for place, verifier in enumerate(self._verifiers):
            signature = _hmac(verifier.stored_key, message)
            key = bytes(a ^ b for a, b in zip(given, signature, strict=False))
            is_right = hmac.compare_digest(hashlib.sha256(key).digest(), verifier.stored_key)
            if len(given) == len(signature) and is_right:
                return b"v=" + _b64(_hmac(verifier.server_key, message)).encode(), place
        raise WrongPassword


def _hmac(key: bytes, message: bytes) -> bytes:
    return hmac.digest(key, message, "sha256")


def _b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise ScramMalformed("a part of a message of SCRAM is not base64") from None


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ScramMalformed("a message of SCRAM is not UTF-8") from None
