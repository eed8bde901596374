"""Random rows in which the joins of the queries meet.

A row is made for one of the queries: its columns take the constants that the query compares them with, and
its references mostly lead to rows made for the same query. Days and times of day are real, so that their
columns agree with each other. Returns are returns of sales.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal

from engine.schema import Column, Kind
from tests.property.histories import Change, Epoch
from tests.property.schemas import Row, Table
from tests.tpcds.domains import Domains
from tests.tpcds.fitting import FITTING, Fit
from tests.tpcds.schema import FACTS, TABLES

FIRST_DAY, LAST_DAY = date(1998, 1, 1), date(2002, 12, 31)
_EPOCH = date(1900, 1, 1)
_FIRST_KEY = 2415021  # of 1900-01-01, the Julian day
_DAYS = tuple(FIRST_DAY + timedelta(days=n) for n in range((LAST_DAY - FIRST_DAY).days + 1))
_REFERENCES = {
    "_item_sk": "item", "_customer_sk": "customer", "_cdemo_sk": "customer_demographics",
    "_hdemo_sk": "household_demographics", "_addr_sk": "customer_address", "_store_sk": "store",
    "_promo_sk": "promotion", "_call_center_sk": "call_center", "_catalog_page_sk": "catalog_page",
    "_ship_mode_sk": "ship_mode", "_warehouse_sk": "warehouse", "_reason_sk": "reason",
    "_web_page_sk": "web_page", "_web_site_sk": "web_site", "_income_band_sk": "income_band",
    "_time_sk": "time_dim",
}  # fmt: skip
# Tables that facts refer to, those last that refer to others of them.
_REFERRED = tuple(
    sorted(
        (name for name in TABLES if name not in (*FACTS, "date_dim", "time_dim")),
        key=("household_demographics", "customer", "promotion", "web_page").__contains__,
    )
)
_SALES = {"store_returns": "store_sales", "catalog_returns": "catalog_sales", "web_returns": "web_sales"}
_SOLD = {"ticket_number": "ticket_number", "order_number": "order_number", "item_sk": "item_sk",
         "customer_sk": "customer_sk", "refunded_customer_sk": "bill_customer_sk",
         "returning_customer_sk": "bill_customer_sk", "web_page_sk": "web_page_sk"}  # fmt: skip


_NUMERIC = {
    column.name
    for table in TABLES.values()
    for column in table.schema.columns
    if column.type.kind is Kind.NUMERIC
}


def day(moment: date) -> Row:
    """The row of date_dim."""
    passed = (moment - _EPOCH).days
    key, month = _FIRST_KEY + passed, (moment.year - 1900) * 12 + moment.month - 1
    quarter, dow = (moment.month - 1) // 3 + 1, (moment.weekday() + 1) % 7
    quarters, weeks = (moment.year - 1900) * 4 + quarter, (passed + 1) // 7 + 1
    weekend = "Y" if dow in (0, 6) else "N"
    return (
        key, f"DAY{key}", moment, month, weeks, quarters, moment.year, dow, moment.month, moment.day, quarter,
        moment.year, quarters, weeks, moment.strftime("%A"), f"{moment.year}Q{quarter}", "N", weekend, "N",
        key - moment.day + 1, key - moment.day + 28, key - 365, key - 91, "N", "N", "N", "N", "N",
    )  # fmt: skip


def time_of_day(seconds: int) -> Row:
    """The row of time_dim."""
    hour, meal = seconds // 3600, {7: "breakfast", 8: "breakfast", 12: "lunch", 18: "dinner", 19: "dinner"}
    noon = "AM" if hour < 12 else "PM"
    shift = ("third", "first", "second")[hour // 8]
    return (
        seconds,
        f"TIME{seconds}",
        seconds,
        hour,
        seconds // 60 % 60,
        0,
        noon,
        shift,
        shift,
        meal.get(hour),
    )


def _later_days() -> list[date]:
    """The days after the last one that fitting rows have."""
    named = (value for fits in FITTING.values() for fit in fits for value in _dates(fit))
    return sorted({each for each in named if each > LAST_DAY})


def _dates(fit: Fit) -> list[date]:
    return [date.fromisoformat(str(v)) for name, v in fit.values.items() if name.endswith("date_sk")]


class Rows:
    """Writes rows, and remembers which query each was made for."""

    def __init__(self, rng: random.Random, domains: Mapping[int, Domains]) -> None:
        self.rng = rng
        self.domains = domains
        self.made: dict[tuple[str, int | None], list[Row]] = defaultdict(list)
        self.fitting: dict[int, list[tuple[str, Row]]] = {}
        """The rows of `FITTING` that are there, by query."""
        self._days: dict[int, list[int]] = {}
        self._keys = Counter[str]()

    def load(self, referred: int, facts: int) -> Epoch:
        """Days, times, for each query some rows of every table that facts refer to, and of each fact."""
        calendar = [Change("date_dim", day(each), 1) for each in (*_DAYS, *_later_days())]
        times = [time_of_day(900 * n) for n in range(96)]
        self.made["time_dim", None] = times
        changes = [*calendar, *(Change("time_dim", row, 1) for row in times)]
        for name in (*_REFERRED, *FACTS):
            count = facts if name in FACTS else referred
            changes += [
                Change(name, self.row(TABLES[name], q), 1) for q in self.domains for _ in range(count)
            ]
        for query in self._fitted():
            changes += self._fit(query)
        return tuple(changes)

    def change(self, count: int) -> Epoch:
        """Some rows come, some go, some are replaced, in all tables but those of days and times."""
        changes: list[Change] = []
        for query in self._fitted():
            if self.rng.random() < 0.5:
                changes += self._fit(query)
        for _ in range(count):
            table = TABLES[self.rng.choice(FACTS if self.rng.random() < 0.7 else _REFERRED)]
            query = self.rng.choice(tuple(self.domains))
            rows = self.made[table.name, query]
            draw = self.rng.random()
            if rows and draw < 0.6:
                old = rows.pop(self.rng.randrange(len(rows)))
                changes.append(Change(table.name, old, -1))
                if draw < 0.3:
                    changes.append(Change(table.name, self.row(table, query, old), 1))
            else:
                changes.append(Change(table.name, self.row(table, query), 1))
        return tuple(changes)

    def _fitted(self) -> list[int]:
        return [query for query in FITTING if query in self.domains]

    def _fit(self, query: int) -> list[Change]:
        """The rows that fit a query come if they are not there, and go otherwise."""
        there = self.fitting.pop(query, None)
        if there is not None:
            return [Change(table, row, -1) for table, row in there]
        keys: dict[str, object] = {}
        made = self.fitting[query] = []
        for fit in FITTING[query]:
            values = {name: self._meant(name, value, keys) for name, value in fit.values.items()}
            for _ in range(fit.times):
                row = self._values(TABLES[fit.table], query, None, values)
                made.append((fit.table, row))
                keys[f"@{fit.name}"] = row[0]
        return [Change(table, row, 1) for table, row in made]

    def _meant(self, column: str, value: object, keys: Mapping[str, object]) -> object:
        """The value of a column that a `Fit` names."""
        if isinstance(value, str) and value.startswith("@"):
            return keys[value]
        if isinstance(value, str) and column.endswith("date_sk"):
            return day(date.fromisoformat(value))[0]
        is_numeric = column in _NUMERIC and value is not None
        return Decimal(f"{value}.00") if is_numeric else value

    def row(self, table: Table, query: int, old: Row | None = None) -> Row:
        """A row for the query; with `old`, under its key."""
        row = self._values(table, query, old, self._sold(table.name, query))
        self.made[table.name, query].append(row)
        return row

    def _values(self, table: Table, query: int, old: Row | None, known: Mapping[str, object]) -> Row:
        """A row with these values by column, and random others."""
        values: list[object] = []
        for i, column in enumerate(table.schema.columns):
            if i == 0 and table.key is not None:
                self._keys[table.name] += old is None
                values.append(old[0] if old is not None else self._keys[table.name])
            elif column.name in known:
                values.append(known[column.name])
            elif column.nullable and self.rng.random() < 0.03:
                values.append(None)
            else:
                values.append(self.value(column, query))
        return tuple(values)

    def _sold(self, name: str, query: int) -> dict[str, object]:
        """What a return has in common with its sale, by column."""
        if name not in _SALES or not (sales := self.made[_SALES[name], query]):
            return {}
        names = [each.partition("_")[2] for each in TABLES[_SALES[name]].schema.names]
        sale = dict(zip(names, self.rng.choice(sales), strict=True))
        mine = {column: column.partition("_")[2] for column in TABLES[name].schema.names}
        sold = {column: sale.get(_SOLD.get(suffix, "")) for column, suffix in mine.items()}
        return {column: value for column, value in sold.items() if value is not None}

    def value(self, column: Column, query: int) -> object:
        if column.name.endswith(("_date_sk", "_sales_date_sk")):
            return self.rng.choice(self._days_of(query))
        for suffix, name in _REFERENCES.items():
            if column.name.endswith(suffix):
                return self._reference(name, query)
        constants = self.domains[query].get(column.name, ())
        if not constants or self.rng.random() < 0.1:
            constants = tuple(c for each in self.domains.values() for c in each.get(column.name, ()))
        return self._constant(column, constants)

    def _reference(self, name: str, query: int) -> object:
        rows = self.made[name, query] if self.rng.random() < 0.8 else []
        rows = rows or self.made[name, None] or [r for q in self.domains for r in self.made[name, q]]
        return self.rng.choice(rows)[0] if rows else None

    def _constant(self, column: Column, constants: tuple[str, ...]) -> object:
        """A value that some query compares the column with, or one between two, or any."""
        match column.type.kind:
            case Kind.TEXT:
                count = 150 if column.name.endswith("_id") else 4
                plain = f"{column.name} {self.rng.randrange(count)}"
                return self.rng.choice(constants).replace("%", "x") if constants else plain
            case Kind.DATE:
                return self.rng.choice(_DAYS)
        numbers = sorted(Decimal(c) for c in constants if c.lstrip("-").replace(".", "", 1).isdigit())
        if not numbers:
            numbers = [Decimal(0), Decimal(100)]
        if self.rng.random() < 0.5:
            value = self.rng.choice(numbers)
        else:
            value = (
                self.rng.randint(int(numbers[0]), int(numbers[-1])) + Decimal(self.rng.randrange(100)) / 100
            )
        return int(value) if column.type.kind is Kind.INTEGER else value.quantize(Decimal("0.01"))

    def _days_of(self, query: int) -> list[int]:
        """Keys of days that the query may select, or of all."""
        if query not in self._days:
            names = TABLES["date_dim"].schema.names
            wanted = {
                i: set(self.domains[query][name])
                for i, name in enumerate(names)
                if self.domains[query].get(name)
            }
            fitting = [row[0] for row in map(day, _DAYS) if all(_near(row[i], wanted[i]) for i in wanted)]
            self._days[query] = fitting or [day(each)[0] for each in _DAYS]  # type: ignore[assignment]
        return self._days[query]


def _near(value: object, constants: set[str]) -> bool:
    """Whether the value is among the constants, or a day a month from one at most."""
    if isinstance(value, date):
        return any(
            abs((value - datetime.strptime(each, "%Y-%m-%d").date()).days) <= 30
            for each in constants
            if "-" in each
        )
    return str(value) in constants
