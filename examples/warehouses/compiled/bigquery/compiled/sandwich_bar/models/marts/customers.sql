with by_customer as (

    select
        customer_id,
        min(ordered_on) as first_order,
        max(ordered_on) as latest_order,
        count(*) as number_of_orders,
        sum(amount) as lifetime_value,
        logical_or(status = 'RETURNED') as has_returned
    from `sandwich-bar`.`sandwiches`.`orders`
    group by customer_id

)

select
    customers.customer_id,
    customers.full_name,
    by_customer.first_order,
    by_customer.latest_order,
    

    datetime_diff(
        cast(by_customer.first_order as datetime),
        cast(customers.joined as datetime),
        day
    )

   as days_to_first_order,
    

    datetime_diff(
        cast(by_customer.latest_order as datetime),
        cast(by_customer.first_order as datetime),
        month
    )

   as months_of_orders,
    cast(

        datetime_add(
            cast( customers.joined as datetime),
        interval 1 month
        )

 as date) as trial_ends,
    cast(cast(
        

        datetime_add(
            cast( 

        datetime_add(
            cast( timestamp_trunc(
        cast(customers.joined as timestamp),
        month
    ) as datetime),
        interval 1 month
        )

 as datetime),
        interval -1 day
        )


        as date) as date) as first_bill,
    coalesce(by_customer.number_of_orders, 0) as number_of_orders,
    coalesce(by_customer.lifetime_value, 0) as lifetime_value,
    coalesce(by_customer.has_returned, false) as has_returned,
    rank() over (order by coalesce(by_customer.lifetime_value, 0) desc) as place,
    latest_orders.items as latest_items
from `sandwich-bar`.`sandwiches`.`stg_customers` as customers
left join by_customer on by_customer.customer_id = customers.customer_id
left join `sandwich-bar`.`sandwiches`.`latest_orders` as latest_orders on latest_orders.customer_id = customers.customer_id