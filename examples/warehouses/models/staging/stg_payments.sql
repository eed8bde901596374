select
    id as payment_id,
    order_id,
    method,
    {{ in_euros('cents') }} as amount
from {{ ref('raw_payments') }}
