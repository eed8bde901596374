select
    id as order_id,
    member as member_id,
    placed,
    state
from {{ ref('raw_orders') }}
