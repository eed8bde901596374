with orders as (

    select * from {{ ref('orders') }} where state <> 'returned'

),

totals as (

    select
        member_id,
        min(placed) as first_order,
        max(placed) as latest_order,
        count(*) as orders,
        sum(amount) as spent
    from orders
    group by member_id

),

running as (

    select
        member_id,
        order_id,
        sum(amount) over (partition by member_id order by placed, order_id) as spent_so_far
    from orders

),

reached as (

    select member_id, min(order_id) as gold_with_order
    from running
    where spent_so_far >= 50
    group by member_id

)

select
    members.member_id,
    members.full_name,
    totals.first_order,
    totals.latest_order,
    coalesce(totals.orders, 0) as orders,
    coalesce(totals.spent, 0) as spent,
    rank() over (order by coalesce(totals.spent, 0) desc) as place,
    reached.gold_with_order
from {{ ref('stg_members') }} as members
left join totals on totals.member_id = members.member_id
left join reached on reached.member_id = members.member_id
