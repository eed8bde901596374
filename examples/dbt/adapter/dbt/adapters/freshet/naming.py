"""Names of dbt's relations in Freshet.

A schema of dbt is a schema of Freshet, in the one database that there is. A relation of `public` is written
without its schema. A name beyond Freshet's 63 bytes ends in a digest.
"""

from __future__ import annotations

from hashlib import sha256

DATABASE = "freshet"
PUBLIC = "public"
"""The schema of names that are written without one."""
LONGEST = 63
"""The longest name in bytes."""
_DIGEST = 8


def short_name(name: str) -> str:
    """The name in Freshet of a relation or a schema."""
    written = name.encode()
    if len(written) <= LONGEST:
        return name
    kept = written[: LONGEST - _DIGEST - 1].decode(errors="ignore")
    return f"{kept}_{sha256(written).hexdigest()[:_DIGEST]}"
