select
    items.item,
    sum(items.quantity) as quantity,
    count(distinct orders.customer_id) as customers,
    max(

  
    split(
        orders.order_key,
        '-'
        )[safe_offset(0)]
  

) as greatest_key
from `sandwich-bar`.`sandwiches`.`stg_items` as items
inner join `sandwich-bar`.`sandwiches`.`stg_orders` as orders on orders.order_id = items.order_id
where 

    strpos(
        items.item,
        't'

    ) > 0
group by items.item