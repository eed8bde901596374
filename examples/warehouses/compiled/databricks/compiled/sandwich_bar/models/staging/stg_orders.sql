with raw as (

    select * from `main`.`sandwiches`.`raw_orders`

)

select
    id as order_id,
    md5(cast(concat(coalesce(cast(id as string), '_null_'), '-', coalesce(cast(customer_id as string), '_null_')) as string))
 as order_key,
    customer_id,
    ordered_at,
    cast(ordered_at as date) as ordered_on,
    cast(date_trunc('month', ordered_at) as date) as ordered_in,
    upper(status) as status,
    basket,
    
    try_cast(note as integer)
 as table_number
from raw