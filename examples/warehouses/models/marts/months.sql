select
    ordered_in as month,
    status,
    count(*) as orders,
    count(distinct customer_id) as customers,
    sum(amount) as amount
from {{ ref('orders') }}
group by 1, 2
having sum(amount) >= 0
