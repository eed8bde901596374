{{ config(materialized='incremental', unique_key='order_id') }}

{% set methods = ['card', 'cash', 'coupon', 'gift_card'] %}

with payments as (

    select
        order_id,
        {{ pivoted('method', methods, 'amount') }},
        sum(amount) as amount
    from {{ ref('stg_payments') }}
    group by order_id

),

items as (

    select
        order_id,
        sum(quantity) as pieces,
        {{ dbt.listagg('item', "', '", 'order by item') }} as items
    from {{ ref('stg_items') }}
    group by order_id

)

select
    orders.order_id,
    orders.order_key,
    orders.customer_id,
    orders.ordered_on,
    orders.ordered_in,
    orders.status,
    coalesce(orders.table_number, 0) as table_number,
    coalesce(items.pieces, 0) as pieces,
    items.items,
    {%- for method in methods %}
    coalesce(payments.{{ method }}_amount, 0) as {{ method }}_amount,
    {%- endfor %}
    coalesce(payments.amount, 0) as amount
from {{ ref('stg_orders') }} as orders
left join payments on payments.order_id = orders.order_id
left join items on items.order_id = orders.order_id
{% if is_incremental() %}
where orders.ordered_on >= (select max(ordered_on) from {{ this }})
{% endif %}
