
    select
        orders.order_id,
        place,
        entry.item as item,
        entry.quantity as quantity
    from `main`.`sandwiches`.`stg_orders` as orders
    lateral view posexplode(from_json(orders.basket, 'array<struct<item: string, quantity: int>>')) exploded
        as place, entry
