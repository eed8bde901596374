
    select
        orders.order_id,
        place,
        json_value(entry, '$.item') as item,
        cast(json_value(entry, '$.quantity') as int64) as quantity
    from `sandwich-bar`.`sandwiches`.`stg_orders` as orders
    cross join unnest(json_query_array(orders.basket)) as entry with offset as place
