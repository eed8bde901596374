"""Keys, roles and patterns without HTTP: what is kept, what fits, and what a changed account is worth."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from time import process_time

import pytest

from planner.relation_names import split_name
from service.accounts.account_tables import keys as key_table
from service.accounts.accounts import USED_SECONDS, Accounts
from service.accounts.keys import parts_of
from service.accounts.principals import ANYONE, Principal
from service.accounts.privileges import OF_ROWS, PREDEFINED, Permission, Privilege, covers, matcher, overlap
from service.catalog.catalog import Catalog
from service.concealing import conceal
from service.errors import Conflict, Invalid, NotFound, Unauthenticated

SECOND = 1_000_000


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000 * SECOND

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    catalog = Catalog(f"sqlite:///{tmp_path}/freshet.db")
    yield catalog
    catalog.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def accounts(catalog: Catalog, clock: Clock) -> Accounts:
    return Accounts(catalog.transaction, clock)


def is_valid(accounts: Accounts, text: str) -> bool:
    try:
        return accounts.principal(text).name != ""
    except Unauthenticated:
        return False


def test_a_key_has_256_bits_and_only_its_hash_is_kept(accounts: Accounts, catalog: Catalog) -> None:
    key, text = accounts.add("boss", "admin")
    assert re.fullmatch("fr_[0-9a-f]{12}_[0-9a-f]{64}", text)
    secret = parts_of(text)[1]
    with catalog.transaction() as connection:
        row = connection.execute(key_table.select()).one()
    kept = b"".join(part if isinstance(part, bytes) else str(part).encode() for part in row)
    assert secret.encode() not in kept and bytes.fromhex(secret) not in kept
    again, other = accounts.add("boss", "admin")
    assert again.id != key.id and again.secret.salt != key.secret.salt and other != text


def test_no_key_is_needed_until_there_was_one(accounts: Accounts) -> None:
    assert not accounts.are_needed
    for role in ("read", "write"):
        with pytest.raises(Conflict, match="no admin"):
            accounts.add("first", role)
    with pytest.raises(Invalid, match="cannot be limited"):
        accounts.add("first", "admin", ["t"])
    key, _ = accounts.add("boss", "admin")
    assert accounts.are_needed
    with pytest.raises(Conflict, match="last key of an admin"):
        accounts.revoke(key.id)
    accounts.add("second", "admin")
    accounts.revoke(key.id)
    assert accounts.are_needed


@pytest.mark.parametrize("name", ["", "x" * 64, "a\nb", "\x1b[31m"])
def test_names_of_keys(accounts: Accounts, name: str) -> None:
    with pytest.raises(Invalid):
        accounts.add(name, "admin")


def test_accounts_come_back(accounts: Accounts, catalog: Catalog) -> None:
    _, admin = accounts.add("boss", "admin")
    accounts.create_role("r")
    accounts.grant(["r"], frozenset({Permission(Privilege.SELECT, "t")}))
    _, text = accounts.add("x", "r", ["t", "u*"])
    gone, revoked = accounts.add("gone", "read")
    accounts.revoke(gone.id)
    again = Accounts(catalog.transaction)
    assert is_valid(again, admin) and not is_valid(again, revoked)
    principal = again.principal(text)
    assert (principal.role, principal.limits) == ("r", ("t", "u*"))
    assert principal.permissions == {Permission(Privilege.SELECT, "t")}
    assert again.known.keys == accounts.known.keys and again.known.roles == accounts.known.roles


def test_a_rotated_key_has_a_time_of_grace(accounts: Accounts, clock: Clock) -> None:
    key, first = accounts.add("boss", "admin")
    before = accounts.principal(first)
    rotated, second = accounts.rotate(key.id, 10)
    assert rotated.id == key.id and first != second
    assert is_valid(accounts, first) and is_valid(accounts, second)
    assert not accounts.is_current(before), "what was opened with the old secret has to begin anew"
    clock.now += 10 * SECOND
    assert not is_valid(accounts, first) and is_valid(accounts, second)
    _, third = accounts.rotate(key.id)
    assert not is_valid(accounts, second) and is_valid(accounts, third), "without grace it ends at once"
    with pytest.raises(NotFound):
        accounts.rotate("000000000000")


def test_grace_ends_what_was_opened_in_it(accounts: Accounts, clock: Clock) -> None:
    """Whoever has a leaked secret cannot keep a feed open beyond the secret's time."""
    key, first = accounts.add("boss", "admin")
    accounts.rotate(key.id, 10)
    late = accounts.principal(first)
    assert accounts.is_current(late) and accounts.renewed(late).is_admin
    clock.now += 10 * SECOND
    assert not accounts.is_current(late)
    with pytest.raises(Unauthenticated):
        accounts.renewed(late)


def test_what_takes_long_goes_on_with_the_rights_of_the_moment(accounts: Accounts) -> None:
    assert accounts.renewed(ANYONE) is ANYONE
    boss, text = accounts.add("boss", "admin")
    with pytest.raises(Unauthenticated):
        accounts.renewed(ANYONE)
    accounts.create_role("r")
    key, one = accounts.add("one", "r")
    begun, other = accounts.principal(one), accounts.principal(text)
    accounts.grant(["r"], PREDEFINED["read"])
    assert not begun.reads_all and accounts.renewed(begun).reads_all
    accounts.rotate(boss.id, 10)
    assert accounts.renewed(other).is_admin, "what has begun before a rotation has the time of grace too"
    accounts.rotate(key.id)
    for account in (begun, accounts.known.principals[key.id]):
        accounts.revoke(key.id) if account is not begun else None
        with pytest.raises(Unauthenticated):
            accounts.renewed(account)


def test_a_principal_is_current_as_long_as_its_rights_are_the_same(accounts: Accounts) -> None:
    accounts.add("boss", "admin")
    accounts.create_role("r")
    key, text = accounts.add("x", "r")
    principal = accounts.principal(text)
    accounts.add("another", "read")
    assert accounts.is_current(principal), "the accounts of others do not matter"
    accounts.grant(["r"], PREDEFINED["read"])
    assert not accounts.is_current(principal)
    principal = accounts.principal(text)
    accounts.revoke(key.id)
    assert not accounts.is_current(principal)


def test_the_last_use_is_kept_coarsely(accounts: Accounts, catalog: Catalog, clock: Clock) -> None:
    key, text = accounts.add("boss", "admin")
    assert accounts.used_at(key) is None
    accounts.principal(text)
    assert accounts.is_use_due(key.id)
    accounts.note_use(key.id)
    assert not accounts.is_use_due(key.id)
    clock.now += USED_SECONDS * SECOND
    accounts.principal(text)
    assert not accounts.is_use_due(key.id)
    clock.now += 1
    accounts.principal(text)
    assert accounts.is_use_due(key.id)
    stored = Accounts(catalog.transaction).known.keys[key.id].used_at
    assert stored == clock.now - 1 - USED_SECONDS * SECOND


def test_an_admin_always_stays(accounts: Accounts) -> None:
    """Not even a role may lose what makes the last key an admin's."""
    accounts.create_role("chief")
    accounts.grant(["chief"], PREDEFINED["admin"])
    accounts.add("boss", "chief")
    with pytest.raises(Conflict, match="nobody could manage"):
        accounts.withdraw(["chief"], PREDEFINED["admin"])
    assert accounts.known.admins == 1
    accounts.add("other", "admin")
    accounts.withdraw(["chief"], PREDEFINED["admin"])


@pytest.mark.parametrize(
    ("role", "limits", "expected"),
    [
        ("admin", None, {"t": "SIUD", "u": "SIUD"}),
        ("write", None, {"t": "SIUD", "u": "SIUD"}),
        ("write", ("t",), {"t": "SIUD", "u": ""}),
        ("write", (), {"t": "", "u": ""}),
        ("read", None, {"t": "S", "u": "S"}),
        ("read", ("u*",), {"t": "", "u": "S", "u2": "S"}),
    ],
)
def test_what_the_predefined_roles_may(role: str, limits: tuple | None, expected: dict[str, str]) -> None:
    principal = Principal("1", "n", role, PREDEFINED[role], limits)
    for relation, letters in expected.items():
        assert "".join(p[0] for p in OF_ROWS if principal.may(p, relation)) == letters
        assert principal.sees(relation) == bool(letters)
    assert principal.defines == (role in ("admin", "write") and limits is None)
    assert principal.reads_all == (limits is None)
    assert principal.is_admin == (role == "admin")


PATTERNS = [
    *("a", "b", "ab", "*", "a*", "*a", "*b", "a*b", "b*", "*a*", "a**", "aa*", "*ab", "A", "public.*"),
    *('"a.b"', '"a.*"', '"*.*"', "a.b", "a.*", "a.*b", "s.a*", "s.*"),
]
NAMES = [
    *("a", "b", "A", "aa", "ab", "ba", "bb", "aab", "aba", "abb", "axb", "aaa", "bab", "a\nb", "public"),
    *('"a.a"', '"b.b"', '"aa.b"', '"a.ab"', '".ab"', '"b.a"', '"aab.b"', '"a.bab"', '"ab.ab"', '"aa.ab"'),
    *('"a.b"', '"a."', '"s.ab"', '"."', "a.b", "a.ab", "s.a", "s.ab", "s.b", "s.public", "a.a", "s.aab"),
]


def by_letters(pattern: str, name: str) -> bool:
    """Matching without `re`: the referee."""
    if not pattern:
        return not name
    if pattern[0] == "*":
        return any(by_letters(pattern[1:], name[i:]) for i in range(len(name) + 1))
    return name[:1] == pattern[0] and by_letters(pattern[1:], name[1:])


def by_parts(pattern: str, name: str) -> bool:
    """The same for full names: `*` alone matches all, and any other pattern names of one schema."""
    (schema, own), (wanted, letters) = split_name(name), split_name(pattern)
    return pattern == "*" or (schema == wanted and by_letters(letters, own))


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns(pattern: str) -> None:
    for name in NAMES:
        assert covers(pattern, name) == by_parts(pattern, name), name
    for other in PATTERNS:
        both = [n for n in NAMES if by_parts(pattern, n) and by_parts(other, n)]
        assert overlap(pattern, other) == bool(both), other
        if covers(pattern, other):
            assert all(by_parts(pattern, n) for n in NAMES if by_parts(other, n))


def test_a_key_in_the_wrong_place_is_shown_without_its_secret(accounts: Accounts) -> None:
    _, text = accounts.add("boss", "admin")
    shown = conceal(f"there is no table called {text}, {text[:40]}")
    assert parts_of(text)[1] not in shown and text[16:30] not in shown
    assert parts_of(text)[0] in shown


@pytest.mark.parametrize("pattern", ["s*_eu_*_x", "*a*a*a*a*b", "*_*_*_*_*", "**a**b**"])
def test_names_are_matched_in_one_pass(pattern: str) -> None:
    """A backtracking match of this name takes longer than anybody waits, and the event loop waits with it."""
    words = {"s*_eu_*_x": "_eu_", "*_*_*_*_*": "-"}
    name = "s" + words.get(pattern, "a") * 200_000
    began = process_time()
    assert matcher([pattern, "other"]).fullmatch(name) is None
    assert process_time() - began < 2
