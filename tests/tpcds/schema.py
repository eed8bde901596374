"""The 24 tables of TPC-DS: the columns that the specification lists, with types by family.

A name alone is an INTEGER; `:t` is TEXT, `:n` NUMERIC(7, 2), `:d` DATE. The tables that facts refer to have
their first column as primary key; facts are bags. In customer, `c_last_review_date` has the name by which
query 30 calls it.
"""

from __future__ import annotations

from engine.schema import DATE, INTEGER, TEXT, Column, Schema, numeric
from tests.property.schemas import Table

FACTS = (
    "store_sales",
    "store_returns",
    "catalog_sales",
    "catalog_returns",
    "web_sales",
    "web_returns",
    "inventory",
)
_TYPES = {"": INTEGER, "t": TEXT, "n": numeric(7, 2), "d": DATE}
_COLUMNS = {
    "call_center": """
        cc_call_center_sk cc_call_center_id:t cc_rec_start_date:d cc_rec_end_date:d cc_closed_date_sk
        cc_open_date_sk cc_name:t cc_class:t cc_employees cc_sq_ft cc_hours:t cc_manager:t cc_mkt_id
        cc_mkt_class:t cc_mkt_desc:t cc_market_manager:t cc_division cc_division_name:t cc_company
        cc_company_name:t cc_street_number:t cc_street_name:t cc_street_type:t cc_suite_number:t cc_city:t
        cc_county:t cc_state:t cc_zip:t cc_country:t cc_gmt_offset:n cc_tax_percentage:n
    """,
    "catalog_page": """
        cp_catalog_page_sk cp_catalog_page_id:t cp_start_date_sk cp_end_date_sk cp_department:t
        cp_catalog_number cp_catalog_page_number cp_description:t cp_type:t
    """,
    "catalog_returns": """
        cr_returned_date_sk cr_returned_time_sk cr_item_sk cr_refunded_customer_sk cr_refunded_cdemo_sk
        cr_refunded_hdemo_sk cr_refunded_addr_sk cr_returning_customer_sk cr_returning_cdemo_sk
        cr_returning_hdemo_sk cr_returning_addr_sk cr_call_center_sk cr_catalog_page_sk cr_ship_mode_sk
        cr_warehouse_sk cr_reason_sk cr_order_number cr_return_quantity cr_return_amount:n cr_return_tax:n
        cr_return_amt_inc_tax:n cr_fee:n cr_return_ship_cost:n cr_refunded_cash:n cr_reversed_charge:n
        cr_store_credit:n cr_net_loss:n
    """,
    "catalog_sales": """
        cs_sold_date_sk cs_sold_time_sk cs_ship_date_sk cs_bill_customer_sk cs_bill_cdemo_sk
        cs_bill_hdemo_sk cs_bill_addr_sk cs_ship_customer_sk cs_ship_cdemo_sk cs_ship_hdemo_sk
        cs_ship_addr_sk cs_call_center_sk cs_catalog_page_sk cs_ship_mode_sk cs_warehouse_sk cs_item_sk
        cs_promo_sk cs_order_number cs_quantity cs_wholesale_cost:n cs_list_price:n cs_sales_price:n
        cs_ext_discount_amt:n cs_ext_sales_price:n cs_ext_wholesale_cost:n cs_ext_list_price:n cs_ext_tax:n
        cs_coupon_amt:n cs_ext_ship_cost:n cs_net_paid:n cs_net_paid_inc_tax:n cs_net_paid_inc_ship:n
        cs_net_paid_inc_ship_tax:n cs_net_profit:n
    """,
    "customer": """
        c_customer_sk c_customer_id:t c_current_cdemo_sk c_current_hdemo_sk c_current_addr_sk
        c_first_shipto_date_sk c_first_sales_date_sk c_salutation:t c_first_name:t c_last_name:t
        c_preferred_cust_flag:t c_birth_day c_birth_month c_birth_year c_birth_country:t c_login:t
        c_email_address:t c_last_review_date
    """,
    "customer_address": """
        ca_address_sk ca_address_id:t ca_street_number:t ca_street_name:t ca_street_type:t ca_suite_number:t
        ca_city:t ca_county:t ca_state:t ca_zip:t ca_country:t ca_gmt_offset:n ca_location_type:t
    """,
    "customer_demographics": """
        cd_demo_sk cd_gender:t cd_marital_status:t cd_education_status:t cd_purchase_estimate
        cd_credit_rating:t cd_dep_count cd_dep_employed_count cd_dep_college_count
    """,
    "date_dim": """
        d_date_sk d_date_id:t d_date:d d_month_seq d_week_seq d_quarter_seq d_year d_dow d_moy d_dom d_qoy
        d_fy_year d_fy_quarter_seq d_fy_week_seq d_day_name:t d_quarter_name:t d_holiday:t d_weekend:t
        d_following_holiday:t d_first_dom d_last_dom d_same_day_ly d_same_day_lq d_current_day:t
        d_current_week:t d_current_month:t d_current_quarter:t d_current_year:t
    """,
    "household_demographics": """
        hd_demo_sk hd_income_band_sk hd_buy_potential:t hd_dep_count hd_vehicle_count
    """,
    "income_band": """
        ib_income_band_sk ib_lower_bound ib_upper_bound
    """,
    "inventory": """
        inv_date_sk inv_item_sk inv_warehouse_sk inv_quantity_on_hand
    """,
    "item": """
        i_item_sk i_item_id:t i_rec_start_date:d i_rec_end_date:d i_item_desc:t i_current_price:n
        i_wholesale_cost:n i_brand_id i_brand:t i_class_id i_class:t i_category_id i_category:t
        i_manufact_id i_manufact:t i_size:t i_formulation:t i_color:t i_units:t i_container:t i_manager_id
        i_product_name:t
    """,
    "promotion": """
        p_promo_sk p_promo_id:t p_start_date_sk p_end_date_sk p_item_sk p_cost:n p_response_target
        p_promo_name:t p_channel_dmail:t p_channel_email:t p_channel_catalog:t p_channel_tv:t
        p_channel_radio:t p_channel_press:t p_channel_event:t p_channel_demo:t p_channel_details:t
        p_purpose:t p_discount_active:t
    """,
    "reason": """
        r_reason_sk r_reason_id:t r_reason_desc:t
    """,
    "ship_mode": """
        sm_ship_mode_sk sm_ship_mode_id:t sm_type:t sm_code:t sm_carrier:t sm_contract:t
    """,
    "store": """
        s_store_sk s_store_id:t s_rec_start_date:d s_rec_end_date:d s_closed_date_sk s_store_name:t
        s_number_employees s_floor_space s_hours:t s_manager:t s_market_id s_geography_class:t
        s_market_desc:t s_market_manager:t s_division_id s_division_name:t s_company_id s_company_name:t
        s_street_number:t s_street_name:t s_street_type:t s_suite_number:t s_city:t s_county:t s_state:t
        s_zip:t s_country:t s_gmt_offset:n s_tax_percentage:n
    """,
    "store_returns": """
        sr_returned_date_sk sr_return_time_sk sr_item_sk sr_customer_sk sr_cdemo_sk sr_hdemo_sk sr_addr_sk
        sr_store_sk sr_reason_sk sr_ticket_number sr_return_quantity sr_return_amt:n sr_return_tax:n
        sr_return_amt_inc_tax:n sr_fee:n sr_return_ship_cost:n sr_refunded_cash:n sr_reversed_charge:n
        sr_store_credit:n sr_net_loss:n
    """,
    "store_sales": """
        ss_sold_date_sk ss_sold_time_sk ss_item_sk ss_customer_sk ss_cdemo_sk ss_hdemo_sk ss_addr_sk
        ss_store_sk ss_promo_sk ss_ticket_number ss_quantity ss_wholesale_cost:n ss_list_price:n
        ss_sales_price:n ss_ext_discount_amt:n ss_ext_sales_price:n ss_ext_wholesale_cost:n
        ss_ext_list_price:n ss_ext_tax:n ss_coupon_amt:n ss_net_paid:n ss_net_paid_inc_tax:n ss_net_profit:n
    """,
    "time_dim": """
        t_time_sk t_time_id:t t_time t_hour t_minute t_second t_am_pm:t t_shift:t t_sub_shift:t
        t_meal_time:t
    """,
    "warehouse": """
        w_warehouse_sk w_warehouse_id:t w_warehouse_name:t w_warehouse_sq_ft w_street_number:t
        w_street_name:t w_street_type:t w_suite_number:t w_city:t w_county:t w_state:t w_zip:t w_country:t
        w_gmt_offset:n
    """,
    "web_page": """
        wp_web_page_sk wp_web_page_id:t wp_rec_start_date:d wp_rec_end_date:d wp_creation_date_sk
        wp_access_date_sk wp_autogen_flag:t wp_customer_sk wp_url:t wp_type:t wp_char_count wp_link_count
        wp_image_count wp_max_ad_count
    """,
    "web_returns": """
        wr_returned_date_sk wr_returned_time_sk wr_item_sk wr_refunded_customer_sk wr_refunded_cdemo_sk
        wr_refunded_hdemo_sk wr_refunded_addr_sk wr_returning_customer_sk wr_returning_cdemo_sk
        wr_returning_hdemo_sk wr_returning_addr_sk wr_web_page_sk wr_reason_sk wr_order_number
        wr_return_quantity wr_return_amt:n wr_return_tax:n wr_return_amt_inc_tax:n wr_fee:n
        wr_return_ship_cost:n wr_refunded_cash:n wr_reversed_charge:n wr_account_credit:n wr_net_loss:n
    """,
    "web_sales": """
        ws_sold_date_sk ws_sold_time_sk ws_ship_date_sk ws_item_sk ws_bill_customer_sk ws_bill_cdemo_sk
        ws_bill_hdemo_sk ws_bill_addr_sk ws_ship_customer_sk ws_ship_cdemo_sk ws_ship_hdemo_sk
        ws_ship_addr_sk ws_web_page_sk ws_web_site_sk ws_ship_mode_sk ws_warehouse_sk ws_promo_sk
        ws_order_number ws_quantity ws_wholesale_cost:n ws_list_price:n ws_sales_price:n
        ws_ext_discount_amt:n ws_ext_sales_price:n ws_ext_wholesale_cost:n ws_ext_list_price:n ws_ext_tax:n
        ws_coupon_amt:n ws_ext_ship_cost:n ws_net_paid:n ws_net_paid_inc_tax:n ws_net_paid_inc_ship:n
        ws_net_paid_inc_ship_tax:n ws_net_profit:n
    """,
    "web_site": """
        web_site_sk web_site_id:t web_rec_start_date:d web_rec_end_date:d web_name:t web_open_date_sk
        web_close_date_sk web_class:t web_manager:t web_mkt_id web_mkt_class:t web_mkt_desc:t
        web_market_manager:t web_company_id web_company_name:t web_street_number:t web_street_name:t
        web_street_type:t web_suite_number:t web_city:t web_county:t web_state:t web_zip:t web_country:t
        web_gmt_offset:n web_tax_percentage:n
    """,
}


def _table(name: str, columns: str) -> Table:
    keyed = name not in FACTS
    parts = [column.partition(":") for column in columns.split()]
    made = tuple(Column(part[0], _TYPES[part[2]], not keyed or i > 0) for i, part in enumerate(parts))
    return Table(name, Schema(made), (0,) if keyed else None)


TABLES: dict[str, Table] = {name: _table(name, columns) for name, columns in _COLUMNS.items()}
