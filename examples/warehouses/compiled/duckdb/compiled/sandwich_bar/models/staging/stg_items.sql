
    select
        order_id,
        place - 1 as place,
        basket ->> ('$[' || (place - 1) || '].item') as item,
        cast(basket ->> ('$[' || (place - 1) || '].quantity') as integer) as quantity
    from "memory"."main"."stg_orders", unnest(range(1, 1 + cast(json_array_length(basket) as bigint))) as places (place)
