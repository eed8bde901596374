"""API keys: `fr_<id>_<secret>`. The id is public; of the secret only a salted hash is kept.

A secret has 256 random bits, so nobody can find it by trying, however fast the hash is: a slow hash, which
protects what people make up, would only make every request slow.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, replace

from service.accounts.scram import Verifier
from service.concealing import KEY_FORM

_FORM = re.compile(KEY_FORM)
_ID_BYTES, _SECRET_BYTES, _SALT_BYTES = 6, 32, 16


@dataclass(frozen=True)
class KeptSecret:
    """What is kept of a secret. `until` is its last microsecond (since 1970, UTC); None for no end.

    `scram` is kept of the key's whole text, as PostgreSQL's clients prove that they know it; None for older
    keys."""

    salt: bytes
    digest: bytes
    until: int | None = None
    scram: str | None = None

    @classmethod
    def of(cls, secret: str, text: str = "", scram_salt: bytes | None = None) -> KeptSecret:
        salt = secrets.token_bytes(_SALT_BYTES)
        scram = Verifier.of(text, scram_salt).encode() if text else None
        return cls(salt, _digest(salt, secret), scram=scram)

    def verifier(self, now: int) -> Verifier | None:
        """What SCRAM compares with; None if the secret is not valid any more, or is older than SCRAM."""
        is_valid = self.until is None or now <= self.until
        return Verifier.decode(self.scram) if is_valid and self.scram is not None else None

    def fits(self, secret: str, now: int) -> bool:
        """Whether it was kept of this secret, compared in constant time, and is still valid."""
        is_same = hmac.compare_digest(self.digest, _digest(self.salt, secret))
        return is_same and (self.until is None or now <= self.until)


@dataclass(frozen=True)
class ApiKey:
    """Times are microseconds since 1970, UTC. `old` is the secret before the last rotation."""

    id: str
    name: str
    role: str
    relations: tuple[str, ...] | None
    secret: KeptSecret
    created_at: int
    old: KeptSecret | None = None
    used_at: int | None = None
    revoked_at: int | None = None

    @classmethod
    def new(cls, name: str, role: str, relations: tuple[str, ...] | None, now: int) -> tuple[ApiKey, str]:
        """A new key, and its text, which nobody can find out later."""
        id, secret = secrets.token_hex(_ID_BYTES), secrets.token_hex(_SECRET_BYTES)
        text = text_of(id, secret)
        return cls(id, name, role, relations, KeptSecret.of(secret, text), now), text

    def rotated(self, until: int) -> tuple[ApiKey, str]:
        """The key with a new secret, and its text. The last secret is valid `until` then."""
        secret = secrets.token_hex(_SECRET_BYTES)
        text = text_of(self.id, secret)
        old = replace(self.secret, until=until)
        # One salt for both: SCRAM sends it before it knows which secret the client has.
        salt = None if old.scram is None else Verifier.decode(old.scram).salt
        return replace(self, secret=KeptSecret.of(secret, text, salt), old=old), text

    def fitting(self, secret: str, now: int) -> KeptSecret | None:
        """What is kept of this secret, if it is the key's and the key is not revoked."""
        kept = (self.secret,) if self.old is None else (self.secret, self.old)
        found = next((one for one in kept if one.fits(secret, now)), None)
        return found if self.revoked_at is None else None

    def has_valid(self, salt: bytes, now: int) -> bool:
        """Whether the secret with this salt is valid still."""
        old = self.old
        is_old = old is not None and old.salt == salt and (old.until is None or now <= old.until)
        return self.revoked_at is None and (self.secret.salt == salt or is_old)

    def verifiers(self, now: int) -> list[tuple[Verifier, KeptSecret]]:
        """What SCRAM compares with: of the secret, and of the last one while that is valid."""
        kept = (self.secret, self.old) if self.revoked_at is None else ()
        found = ((secret.verifier(now), secret) for secret in kept if secret is not None)
        return [(verifier, secret) for verifier, secret in found if verifier is not None]


def text_of(id: str, secret: str) -> str:
    return f"fr_{id}_{secret}"


def parts_of(text: str) -> tuple[str, str] | None:
    """The id and the secret in the text of a key; None if it is not one."""
    return (text[3:15], text[16:]) if _FORM.fullmatch(text) else None


def _digest(salt: bytes, secret: str) -> bytes:
    return hashlib.sha256(salt + secret.encode()).digest()
