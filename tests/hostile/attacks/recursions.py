"""Recursions that do not end: from the start, or from a later post on.

A view that cannot be computed is refused; one that stops being computable fails, and the post that
did it is answered as any other.
"""

from __future__ import annotations

from collections.abc import Sequence

from tests.hostile.attack import REFUSED, Attack, Send, attack
from tests.hostile.door import Door, Reply

_MADE = frozenset({201})


def _view(sql: str) -> Send:
    return lambda door: [door.view("h", sql)]


def _recursive(columns: str, start: str, step: str, union: str = "UNION ALL") -> Send:
    return _view(f"WITH RECURSIVE r ({columns}) AS ({start} {union} {step}) SELECT * FROM r")


def _mutual(*bindings: str) -> Send:
    name = bindings[0].split()[0]
    return _view(f"WITH MUTUALLY RECURSIVE {', '.join(bindings)} SELECT * FROM {name}")


def _later(setup: Sequence[str], views: Sequence[str], post: str) -> Send:
    """Views that can be computed until a statement is run."""

    def send(door: Door) -> list[Reply]:
        door.prepare(*setup)
        for number, view in enumerate(views):
            assert door.view(f"h{number}", view).status == 201
        return [door.sql(post)]

    return send


_CAP = (
    "CREATE TABLE h_cap (most BIGINT)",
    "INSERT INTO h_cap VALUES (10)",
)
_TO_CAP = (
    "WITH RECURSIVE r (n) AS (SELECT n FROM h_one UNION SELECT r.n + 1 FROM r, h_cap WHERE r.n < h_cap.most)"
    " SELECT n FROM r"
)
_PATHS = (
    "WITH RECURSIVE r (a, b, length) AS (SELECT a, b, 1 FROM h_arcs"
    " UNION SELECT r.a, h_arcs.b, length + 1 FROM r JOIN h_arcs ON h_arcs.a = r.b) SELECT * FROM r"
)
_WORDS = (
    "WITH RECURSIVE r (a, path) AS (SELECT a, '' FROM h_arcs"
    " UNION SELECT h_arcs.b, path || '/' || r.a FROM r JOIN h_arcs ON h_arcs.a = r.a) SELECT * FROM r"
)
_ARCS = ("CREATE TABLE h_arcs (a BIGINT, b BIGINT)", "INSERT INTO h_arcs VALUES (1, 2), (2, 3)")
_ROUND = "INSERT INTO h_arcs VALUES (3, 1)"

ATTACKS: tuple[Attack, ...] = (
    attack(
        "recursion: counting up",
        _recursive("n", "SELECT n FROM h_one", "SELECT n + 1 FROM r", "UNION"),
        REFUSED,
    ),
    attack(
        "recursion: counting up in a bag",
        _recursive("n", "SELECT n FROM h_one", "SELECT n + 1 FROM r"),
        REFUSED,
    ),
    attack(
        "recursion: doubling rows",
        _recursive("n", "SELECT n FROM h_one", "SELECT r.n FROM r, (VALUES (1), (2)) AS t (x)"),
        REFUSED,
    ),
    attack(
        "recursion: doubling a set",
        _recursive(
            "n", "SELECT n FROM h_one", "SELECT 2 * n + x FROM r, (VALUES (0), (1)) AS t (x)", "UNION"
        ),
        REFUSED,
    ),
    attack(
        "recursion: doubling text",
        _recursive("s", "SELECT 'ab' FROM h_one", "SELECT s || s FROM r", "UNION"),
        _MADE | REFUSED,  # its row fails once it is too long
    ),
    attack(
        "recursion: growing text",
        _recursive("s", "SELECT 'a' FROM h_one", "SELECT s || 'b' FROM r", "UNION"),
        REFUSED,
    ),
    attack(
        "recursion: growing array",
        _recursive("xs", "SELECT ARRAY[n] FROM h_one", "SELECT array_append(xs, 1) FROM r", "UNION"),
        REFUSED,
    ),
    attack(
        "recursion: oscillating EXCEPT",
        _mutual("r (n BIGINT) AS (SELECT n FROM h_one EXCEPT SELECT n FROM r)"),
        REFUSED,
    ),
    attack(
        "recursion: oscillating NOT EXISTS",
        _mutual(
            "r (n BIGINT) AS (SELECT n FROM h_one AS o WHERE NOT EXISTS (SELECT 1 FROM r WHERE r.n = o.n))"
        ),
        REFUSED,
    ),
    attack(
        "recursion: oscillating count",
        _mutual(
            "r (n BIGINT) AS (SELECT count(*) + 1 FROM h_one, (SELECT max(n) AS n FROM r) AS t WHERE t.n < 2)"
        ),
        _MADE | REFUSED,
    ),
    attack(
        "recursion: sum of itself",
        _mutual("r (n BIGINT) AS (SELECT n FROM h_one UNION ALL SELECT sum(n)::BIGINT FROM r)"),
        _MADE | REFUSED,
    ),
    attack(
        "recursion: set that grows by a cross join",
        _recursive("n", "SELECT n FROM h_one", "SELECT x.n + y.n FROM r AS x, r AS y", "UNION"),
        REFUSED,
    ),
    attack(
        "recursion: cross join of three",
        _mutual("r (n BIGINT) AS (SELECT n FROM h_one UNION SELECT x.n * 3 + y.n + z.n FROM r x, r y, r z)"),
        REFUSED,
    ),
    attack(
        "recursion: float that creeps",
        _recursive("f", "SELECT 1.0::DOUBLE PRECISION FROM h_one", "SELECT f * 1.0000000001 FROM r", "UNION"),
        REFUSED,
    ),
    attack(
        "recursion: float that halves",  # it ends after 1,075 rounds, at zero
        _recursive("f", "SELECT 1.0::DOUBLE PRECISION FROM h_one", "SELECT f / 2 FROM r", "UNION"),
        _MADE | REFUSED,
        is_brief=True,
    ),
    attack(
        "recursion: numeric that overflows",
        _recursive(
            "n", "SELECT 9::NUMERIC(38, 0) FROM h_one", "SELECT (n * 10)::NUMERIC(38, 0) FROM r", "UNION"
        ),
        _MADE | REFUSED,
        is_brief=True,
    ),
    attack(
        "recursion: time that passes",
        _recursive(
            "t", "SELECT TIMESTAMP '2000-01-01' FROM h_one", "SELECT t + INTERVAL '1 second' FROM r", "UNION"
        ),
        REFUSED,
    ),
    attack(
        "recursion: two that push each other",
        _mutual(
            "a (n BIGINT) AS (SELECT n FROM h_one UNION SELECT n + 1 FROM b)",
            "b (n BIGINT) AS (SELECT n + 1 FROM a)",
        ),
        REFUSED,
    ),
    attack(
        "recursion: two that deny each other",
        _mutual(
            "a (n BIGINT) AS (SELECT n FROM h_one EXCEPT SELECT n FROM b)",
            "b (n BIGINT) AS (SELECT n FROM h_one EXCEPT SELECT n FROM a)",
        ),
        _MADE | REFUSED,
    ),
    attack(
        "recursion: endless inside endless",
        _mutual(
            "r (n BIGINT) AS (SELECT n FROM h_one UNION SELECT n + 1 FROM"
            " (WITH MUTUALLY RECURSIVE i (n BIGINT) AS (SELECT n FROM r UNION SELECT n + 1 FROM i)"
            " SELECT n FROM i) AS t)"
        ),
        REFUSED,
    ),
    attack(
        "recursion: a limit of its own that is too high",
        _view(
            "WITH MUTUALLY RECURSIVE (RETURN AT RECURSION LIMIT 1000000000)"
            " r (n BIGINT) AS (SELECT n FROM h_one UNION SELECT n + 1 FROM r) SELECT n FROM r"
        ),
        REFUSED,
    ),
    attack(
        "recursion: a limit of its own, reached",
        _view(
            "WITH MUTUALLY RECURSIVE (ERROR AT RECURSION LIMIT 100)"
            " r (n BIGINT) AS (SELECT n FROM h_one UNION SELECT n + 1 FROM r) SELECT n FROM r"
        ),
        {422},
        "recursion_limit",
        is_brief=True,
    ),
    attack(
        "recursion: ad hoc, endless",
        lambda door: [
            door.sql(
                "WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r"
            )
        ],
        REFUSED,
    ),
    attack(
        "recursion: endless after a post, counting",
        _later(_CAP, [_TO_CAP], "UPDATE h_cap SET most = 1000000000000"),
        {200} | REFUSED,
    ),
    attack(
        "recursion: endless after a post, paths",
        _later(_ARCS, [_PATHS], _ROUND),
        {200} | REFUSED,
    ),
    attack(
        "recursion: endless after a post, words",
        _later(_ARCS, [_WORDS], _ROUND),
        {200} | REFUSED,
    ),
    attack(
        "recursion: twenty endless after one post",
        _later(
            _CAP,
            [_TO_CAP.replace("r.n + 1", f"r.n + {step}") for step in range(1, 21)],
            "UPDATE h_cap SET most = 1000000000000",
        ),
        {200} | REFUSED,
    ),
    attack(
        "recursion: views over one that stops",
        _later(
            _CAP,
            [
                _TO_CAP.replace("MUTUALLY", "")
                .replace("RECURSIVE", "MUTUALLY RECURSIVE (ERROR AT RECURSION LIMIT 50)")
                .replace("r (n)", "r (n BIGINT)"),
                "SELECT count(*) AS n FROM h0",
                "SELECT h0.n FROM h0 JOIN h1 ON h1.n = h0.n",
            ],
            "UPDATE h_cap SET most = 1000",
        ),
        {200},
        is_brief=True,
    ),
)
