with by_customer as (

    select
        customer_id,
        min(ordered_on) as first_order,
        max(ordered_on) as latest_order,
        count(*) as number_of_orders,
        sum(amount) as lifetime_value,
        boolor_agg(status = 'RETURNED') as has_returned
    from ANALYTICS.SANDWICHES.orders
    group by customer_id

)

select
    customers.customer_id,
    customers.full_name,
    by_customer.first_order,
    by_customer.latest_order,
    datediff(
        day,
        customers.joined,
        by_customer.first_order
        ) as days_to_first_order,
    datediff(
        month,
        by_customer.first_order,
        by_customer.latest_order
        ) as months_of_orders,
    cast(

    dateadd(
        month,
        1,
        customers.joined
        )

 as date) as trial_ends,
    cast(cast(
        

    dateadd(
        day,
        -1,
        

    dateadd(
        month,
        1,
        date_trunc('month', customers.joined)
        )


        )


        as date) as date) as first_bill,
    coalesce(by_customer.number_of_orders, 0) as number_of_orders,
    coalesce(by_customer.lifetime_value, 0) as lifetime_value,
    coalesce(by_customer.has_returned, false) as has_returned,
    rank() over (order by coalesce(by_customer.lifetime_value, 0) desc) as place,
    latest_orders.items as latest_items
from ANALYTICS.SANDWICHES.stg_customers as customers
left join by_customer on by_customer.customer_id = customers.customer_id
left join ANALYTICS.SANDWICHES.latest_orders as latest_orders on latest_orders.customer_id = customers.customer_id