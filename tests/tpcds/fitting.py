"""Rows that satisfy queries for which random rows never do: a few for each, which refer to each other.

A query has these rows together or not at all. Columns that are not named are random. `"@name"` is the key of
the row of that name, and a date in the place of a day's key is the key of that day.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Fit:
    """So many rows of a table with these values. The last one has the `name`."""

    table: str
    values: Mapping[str, object]
    name: str = ""
    times: int = 1


def _fit(table: str, name: str = "", times: int = 1, **values: object) -> Fit:
    return Fit(table, values, name, times)


def _sold(prefix: str, **values: object) -> dict[str, object]:
    return {f"{prefix}_{name}": value for name, value in values.items()}


def _bought_elsewhere(day: str, dependants: int, city: str) -> tuple[Fit, ...]:
    """A customer lives in another city than the one of a sale."""
    return (
        _fit("household_demographics", "home", hd_dep_count=dependants),
        _fit("store", "store", s_city=city),
        _fit("customer_address", "there", ca_city="There"),
        _fit("customer_address", "here", ca_city="Here"),
        _fit("customer", "customer", c_current_addr_sk="@here"),
        Fit(
            "store_sales",
            _sold("ss", sold_date_sk=day, store_sk="@store", hdemo_sk="@home", addr_sk="@there")
            | _sold("ss", customer_sk="@customer", ticket_number=dependants),
        ),
    )


def _returned_sale(year: int, ticket: int) -> tuple[Fit, ...]:
    """A sale of query 64, and its return."""
    sale = _sold("ss", sold_date_sk=f"{year}-04-10", store_sk="@store", customer_sk="@customer")
    sale |= _sold("ss", cdemo_sk="@single", hdemo_sk="@home", addr_sk="@address", item_sk="@item")
    return (
        Fit("store_sales", sale | _sold("ss", promo_sk="@promotion", ticket_number=ticket)),
        _fit("store_returns", sr_item_sk="@item", sr_ticket_number=ticket),
    )


def _stock(month: int) -> Sequence[Fit]:
    """Quantities of query 39 that differ more than their mean."""
    return [
        _fit(
            "inventory",
            inv_date_sk=f"2002-{month:02}-10",
            inv_item_sk="@item",
            inv_warehouse_sk="@warehouse",
            inv_quantity_on_hand=quantity,
        )
        for quantity in (1, 2, 1000)
    ]


_WEEK = "2002-02-25"

FITTING: Mapping[int, Sequence[Fit]] = {
    6: (
        _fit("item", i_category="Own", i_current_price=1, times=3),
        _fit("item", "dear", i_category="Own", i_current_price=90),
        _fit("customer_address", "address", ca_state="TN"),
        _fit("customer", "customer", c_current_addr_sk="@address"),
        _fit(
            "store_sales",
            ss_customer_sk="@customer",
            ss_item_sk="@dear",
            ss_sold_date_sk="1998-07-10",
            times=12,
        ),
    ),
    8: (
        _fit("store", "store", s_store_name="Own", s_zip="67436"),
        _fit("customer_address", "address", ca_zip="67436"),
        _fit("customer", c_current_addr_sk="@address", c_preferred_cust_flag="Y", times=12),
        _fit("store_sales", ss_store_sk="@store", ss_sold_date_sk="2000-05-10", ss_net_profit=5),
    ),
    24: (
        _fit("store", "store", s_market_id=6, s_zip="10001"),
        _fit("customer_address", ca_zip="10001", ca_country="United States"),
        _fit("customer", "customer", c_birth_country="UNITED STATES"),
        _fit("item", "item", i_color="papaya"),
        Fit(
            "store_sales",
            _sold("ss", ticket_number=24, item_sk="@item", customer_sk="@customer", store_sk="@store")
            | _sold("ss", net_profit=100),
        ),
        _fit("store_returns", sr_ticket_number=24, sr_item_sk="@item"),
    ),
    33: (
        _fit("item", "item", i_category="Books", i_manufact_id=33),
        _fit("customer_address", "address", ca_gmt_offset=-5),
        _fit("store_sales", ss_item_sk="@item", ss_addr_sk="@address", ss_sold_date_sk="1999-03-10"),
    ),
    34: (
        _fit("household_demographics", "home", hd_buy_potential=">10000", hd_vehicle_count=1, hd_dep_count=5),
        _fit("store", "store", s_county="Williamson County"),
        _fit("customer", "customer"),
        Fit(
            "store_sales",
            _sold("ss", ticket_number=34, customer_sk="@customer", sold_date_sk="1999-05-02")
            | _sold("ss", hdemo_sk="@home", store_sk="@store"),
            times=16,
        ),
    ),
    39: (_fit("item", "item"), _fit("warehouse", "warehouse"), *_stock(1), *_stock(2)),
    40: (
        _fit("item", "item", i_current_price=1),
        _fit("warehouse", "warehouse"),
        _fit("catalog_sales", cs_item_sk="@item", cs_warehouse_sk="@warehouse", cs_sold_date_sk="2002-06-05"),
    ),
    44: (
        _fit("item", "item"),
        _fit("store_sales", ss_store_sk=4, ss_cdemo_sk=None, ss_net_profit=-1000, times=30),
        _fit("store_sales", ss_store_sk=4, ss_item_sk="@item", ss_net_profit=1000, times=2),
    ),
    46: _bought_elsewhere("2000-01-01", 6, "Midway"),
    54: (
        _fit("item", "item", i_category="Sports", i_class="fitness"),
        _fit("customer_address", "address", ca_county="Own County", ca_state="TN"),
        _fit("store", s_county="Own County", s_state="TN"),
        _fit("customer", "customer", c_current_addr_sk="@address"),
        _fit(
            "catalog_sales", cs_bill_customer_sk="@customer", cs_item_sk="@item", cs_sold_date_sk="2000-05-10"
        ),
        _fit("store_sales", ss_customer_sk="@customer", ss_sold_date_sk="2000-06-10", ss_ext_sales_price=120),
    ),
    58: (
        _fit("item", "item", i_item_id="own"),
        _fit("store_sales", ss_item_sk="@item", ss_sold_date_sk=_WEEK, ss_ext_sales_price=100),
        _fit("catalog_sales", cs_item_sk="@item", cs_sold_date_sk=_WEEK, cs_ext_sales_price=101),
        _fit("web_sales", ws_item_sk="@item", ws_sold_date_sk=_WEEK, ws_ext_sales_price=99),
    ),
    64: (
        _fit("item", "item", i_color="cyan", i_current_price=60),
        _fit("catalog_sales", cs_item_sk="@item", cs_order_number=64, cs_ext_list_price=1000),
        Fit(
            "catalog_returns",
            _sold("cr", item_sk="@item", order_number=64, refunded_cash=1, reversed_charge=1, store_credit=1),
        ),
        _fit("income_band", "band"),
        _fit("household_demographics", "home", hd_income_band_sk="@band"),
        _fit("customer_demographics", "single", cd_marital_status="S"),
        _fit("customer_demographics", "married", cd_marital_status="M"),
        _fit("customer_address", "address"),
        _fit("promotion", "promotion"),
        _fit("store", "store", s_store_name="Own", s_zip="10001"),
        Fit(
            "customer",
            _sold("c", current_cdemo_sk="@married", current_hdemo_sk="@home", current_addr_sk="@address")
            | _sold("c", first_sales_date_sk="2000-01-10", first_shipto_date_sk="2000-02-10"),
            "customer",
        ),
        *_returned_sale(2001, 641),
        *_returned_sale(2002, 642),
    ),
    65: (
        _fit("store", "store"),
        _fit("item", "much"),
        _fit("item", "little"),
        Fit(
            "store_sales",
            _sold("ss", store_sk="@store", item_sk="@much", sold_date_sk="2000-02-10", sales_price=1000),
        ),
        Fit(
            "store_sales",
            _sold("ss", store_sk="@store", item_sk="@little", sold_date_sk="2000-02-10", sales_price=1),
        ),
    ),
    68: _bought_elsewhere("1998-03-01", 8, "Fairview"),
    69: (
        _fit("customer_address", "address", ca_state="KS"),
        _fit("customer_demographics", "person"),
        _fit("customer", "customer", c_current_addr_sk="@address", c_current_cdemo_sk="@person"),
        _fit("store_sales", ss_customer_sk="@customer", ss_sold_date_sk="2004-04-10"),
    ),
    72: (
        _fit("item", "item"),
        _fit("warehouse", "warehouse"),
        _fit("customer_demographics", "person", cd_marital_status="M"),
        _fit("household_demographics", "home", hd_buy_potential="501-1000"),
        Fit(
            "catalog_sales",
            _sold("cs", item_sk="@item", bill_cdemo_sk="@person", bill_hdemo_sk="@home", quantity=50)
            | _sold("cs", sold_date_sk="2002-03-05", ship_date_sk="2002-03-20"),
        ),
        Fit(
            "inventory",
            _sold("inv", item_sk="@item", warehouse_sk="@warehouse", date_sk="2002-03-05")
            | _sold("inv", quantity_on_hand=5),
        ),
    ),
    78: (
        _fit("item", "item"),
        _fit("customer", "customer"),
        *(
            Fit(
                f"{channel}_sales",
                _sold(prefix, item_sk="@item", sold_date_sk="1999-03-10", quantity=quantity)
                | {f"{prefix}_{bill}customer_sk": "@customer", f"{prefix}_{number}": 78},
            )
            for channel, prefix, bill, number, quantity in (
                ("store", "ss", "", "ticket_number", 3),
                ("web", "ws", "bill_", "order_number", 4),
                ("catalog", "cs", "bill_", "order_number", 5),
            )
        ),
    ),
    85: (
        _fit("item", "item"),
        _fit("web_page", "page"),
        _fit("customer_demographics", "person", cd_marital_status="W", cd_education_status="Primary"),
        _fit("customer_address", "address", ca_country="United States", ca_state="KY"),
        _fit("reason", "reason"),
        Fit(
            "web_sales",
            _sold("ws", item_sk="@item", order_number=85, web_page_sk="@page", sold_date_sk="2001-03-10")
            | _sold("ws", sales_price=120, net_profit=150),
        ),
        Fit(
            "web_returns",
            _sold("wr", item_sk="@item", order_number=85, refunded_cdemo_sk="@person", reason_sk="@reason")
            | _sold("wr", returning_cdemo_sk="@person", refunded_addr_sk="@address"),
        ),
    ),
    91: (
        _fit("call_center", "center"),
        _fit("customer_demographics", "person", cd_marital_status="M", cd_education_status="Unknown"),
        _fit("household_demographics", "home", hd_buy_potential="Unknown"),
        _fit("customer_address", "address", ca_gmt_offset=-7),
        Fit(
            "customer",
            _sold("c", current_cdemo_sk="@person", current_hdemo_sk="@home", current_addr_sk="@address"),
            "customer",
        ),
        Fit(
            "catalog_returns",
            _sold("cr", call_center_sk="@center", returning_customer_sk="@customer")
            | _sold("cr", returned_date_sk="1999-12-10"),
        ),
    ),
}
