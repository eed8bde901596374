{{ config(materialized='incremental', unique_key='placed') }}

select placed, count(*) as orders, sum(amount) as amount
from {{ ref('orders') }}
where state <> 'returned'
{% if is_incremental() %}
  -- Never compiled on Freshet: the view itself follows its tables.
  and placed >= (select max(placed) from {{ this }})
{% endif %}
group by placed
