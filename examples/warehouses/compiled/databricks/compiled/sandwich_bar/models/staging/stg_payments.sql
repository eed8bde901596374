select
    id as payment_id,
    order_id,
    method,
    
    cast(cents as decimal(18, 2)) / 100
 as amount
from `main`.`sandwiches`.`raw_payments`