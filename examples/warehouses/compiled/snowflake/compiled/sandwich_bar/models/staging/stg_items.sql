
    select
        orders.order_id,
        basket.index as place,
        basket.value:item::varchar as item,
        basket.value:quantity::int as quantity
    from ANALYTICS.SANDWICHES.stg_orders as orders,
        lateral flatten(input => parse_json(orders.basket)) as basket
