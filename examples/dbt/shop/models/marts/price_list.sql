{{ config(materialized='table') }}

-- A copy of the prices of the moment; `dbt run` takes another.
select distinct on (coffee) coffee, price
from {{ ref('stg_items') }}
order by coffee, item_id desc
