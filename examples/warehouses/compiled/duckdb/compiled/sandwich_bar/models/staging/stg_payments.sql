select
    id as payment_id,
    order_id,
    method,
    
    cast(cents as decimal(18, 2)) / 100
 as amount
from "memory"."main"."raw_payments"