with days as (

    
    select dateadd(day, row_number() over (order by seq4()) - 1, to_date('2025-02-01')) as day
    from table(generator(rowcount => 28))


),

sales as (

    select ordered_on, count(*) as orders, sum(amount) as amount
    from ANALYTICS.SANDWICHES.orders
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