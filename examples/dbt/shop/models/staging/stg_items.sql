select
    id as item_id,
    order_id,
    coffee,
    bags,
    price,
    bags * price as amount
from {{ ref('raw_items') }}
