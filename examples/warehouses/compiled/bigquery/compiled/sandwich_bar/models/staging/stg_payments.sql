select
    id as payment_id,
    order_id,
    method,
    
    cast(cents as numeric) / 100
 as amount
from `sandwich-bar`.`sandwiches`.`raw_payments`