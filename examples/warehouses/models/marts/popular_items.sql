select
    items.item,
    sum(items.quantity) as quantity,
    count(distinct orders.customer_id) as customers,
    max({{ dbt.split_part('orders.order_key', "'-'", 1) }}) as greatest_key
from {{ ref('stg_items') }} as items
inner join {{ ref('stg_orders') }} as orders on orders.order_id = items.order_id
where {{ dbt.position("'t'", 'items.item') }} > 0
group by items.item
