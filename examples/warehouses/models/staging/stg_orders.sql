with raw as (

    select * from {{ ref('raw_orders') }}

)

select
    id as order_id,
    {{ surrogate_key(['id', 'customer_id']) }} as order_key,
    customer_id,
    ordered_at,
    cast(ordered_at as date) as ordered_on,
    cast({{ dbt.date_trunc('month', 'ordered_at') }} as date) as ordered_in,
    upper(status) as status,
    basket,
    {{ dbt.safe_cast("note", dbt.type_int()) }} as table_number
from raw
