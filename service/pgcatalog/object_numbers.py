"""OIDs of what a service has: the same after a restart, and for as long as an object has its name.

A relation's OID is the id that the catalog gave it, beyond PostgreSQL's own. Everything that belongs to a
relation, such as an index or a constraint, and everything that is known by its name alone, has a number that
a hash of its names determines, above those of relations. Objects that would get one number get the next free
ones, in the order in which they come, so those of older definitions keep theirs.
"""

from __future__ import annotations

from zlib import crc32

FIRST = 16_384
"""The first OID that is not PostgreSQL's own."""
_HASHED = 1 << 30
OWN_SCHEMAS = {"pg_toast": 99, "pg_catalog": 11, "public": 2200, "information_schema": 13_207}
OWNER, DATABASE_OWNER = 10, 6171
"""PostgreSQL's own OIDs of the first superuser, and of the role that owns `public`."""
DATABASE = FIRST
"""No relation has it: their ids begin with 1."""


def relation_number(id: int) -> int:
    """The OID of a table or view, by its id."""
    return FIRST + id


class ObjectNumbers:
    """Gives out numbers; call it in the order of creation."""

    def __init__(self) -> None:
        self._taken: set[int] = set()

    def of(self, *names: object) -> int:
        """The number of the object with these names, which say first what it is."""
        number = _HASHED + crc32("\0".join(map(str, names)).encode()) % _HASHED
        while number in self._taken:
            number = _HASHED + (number + 1) % _HASHED
        self._taken.add(number)
        return number
