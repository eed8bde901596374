with days as (

    
    select explode(sequence(to_date('2025-02-01'), to_date('2025-02-28'), interval 1 day)) as day


),

sales as (

    select ordered_on, count(*) as orders, sum(amount) as amount
    from `main`.`sandwiches`.`orders`
    where status <> 'RETURNED'
    group by ordered_on

)

select
    days.day,
    coalesce(sales.orders, 0) as orders,
    coalesce(sales.amount, 0) as amount,
    sum(coalesce(sales.amount, 0)) over (
        order by days.day rows between 6 preceding and current row
    ) as amount_of_seven_days
from days
left join sales on sales.ordered_on = days.day