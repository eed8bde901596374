select
    items.item,
    sum(items.quantity) as quantity,
    count(distinct orders.customer_id) as customers,
    max(

        get(split(
            orders.order_key,
            

        -- escape if starts with a special character
        case when regexp_extract('-', '([^A-Za-z0-9])(.*)', 1) != '_'
            then concat('\\', '-')
            else '-' end

    
            ), 0)

        ) as greatest_key
from `main`.`sandwiches`.`stg_items` as items
inner join `main`.`sandwiches`.`stg_orders` as orders on orders.order_id = items.order_id
where 

    position(
        't' in items.item
    ) > 0
group by items.item