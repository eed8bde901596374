with raw as (

    select * from `sandwich-bar`.`sandwiches`.`raw_orders`

)

select
    id as order_id,
    to_hex(md5(cast(coalesce(cast(id as string), '_null_') || '-' || coalesce(cast(customer_id as string), '_null_') as string)))
 as order_key,
    customer_id,
    ordered_at,
    cast(ordered_at as date) as ordered_on,
    cast(timestamp_trunc(
        cast(ordered_at as timestamp),
        month
    ) as date) as ordered_in,
    upper(status) as status,
    basket,
    safe_cast(note as INT64) as table_number
from raw