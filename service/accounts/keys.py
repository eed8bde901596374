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

from service.concealing import KEY_FORM

_FORM = re.compile(KEY_FORM)
_ID_BYTES, _SECRET_BYTES, _SALT_BYTES = 6, 32, 16


@dataclass(frozen=True)
class KeptSecret:
    """What is kept of a secret. `until` is its last microsecond (since 1970, UTC); None for no end."""

    salt: bytes
    digest: bytes
    until: int | None = None

    @classmethod
    def of(cls, secret: str) -> KeptSecret:
        salt = secrets.token_bytes(_SALT_BYTES)
        return cls(salt, _digest(salt, secret))

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
        return cls(id, name, role, relations, KeptSecret.of(secret), now), text_of(id, secret)

    def rotated(self, until: int) -> tuple[ApiKey, str]:
        """The key with a new secret, and its text. The last secret is valid `until` then."""
        secret = secrets.token_hex(_SECRET_BYTES)
        old = replace(self.secret, until=until)
        return replace(self, secret=KeptSecret.of(secret), old=old), text_of(self.id, secret)

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


def text_of(id: str, secret: str) -> str:
    return f"fr_{id}_{secret}"


def parts_of(text: str) -> tuple[str, str] | None:
    """The id and the secret in the text of a key; None if it is not one."""
    return (text[3:15], text[16:]) if _FORM.fullmatch(text) else None


def _digest(salt: bytes, secret: str) -> bytes:
    return hashlib.sha256(salt + secret.encode()).digest()
