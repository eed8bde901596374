select
    items.item,
    sum(items.quantity) as quantity,
    count(distinct orders.customer_id) as customers,
    max(

    split_part(
        orders.order_key,
        '-',
        1
        )

) as greatest_key
from ANALYTICS.SANDWICHES.stg_items as items
inner join ANALYTICS.SANDWICHES.stg_orders as orders on orders.order_id = items.order_id
where 

    position(
        't' in items.item
    ) > 0
group by items.item