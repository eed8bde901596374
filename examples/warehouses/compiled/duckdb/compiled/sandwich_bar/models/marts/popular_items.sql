select
    items.item,
    sum(items.quantity) as quantity,
    count(distinct orders.customer_id) as customers,
    max(
    string_split(orders.order_key, '-')[ 1 ]
) as greatest_key
from "memory"."main"."stg_items" as items
inner join "memory"."main"."stg_orders" as orders on orders.order_id = items.order_id
where 

    position(
        't' in items.item
    ) > 0
group by items.item