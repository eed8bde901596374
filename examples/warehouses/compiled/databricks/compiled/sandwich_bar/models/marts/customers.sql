with by_customer as (

    select
        customer_id,
        min(ordered_on) as first_order,
        max(ordered_on) as latest_order,
        count(*) as number_of_orders,
        sum(amount) as lifetime_value,
        max(status = 'RETURNED') as has_returned
    from `main`.`sandwiches`.`orders`
    group by customer_id

)

select
    customers.customer_id,
    customers.full_name,
    by_customer.first_order,
    by_customer.latest_order,
    
    timestampdiff(
        day, date_trunc('day', customers.joined), date_trunc('day', by_customer.first_order)
    )
 as days_to_first_order,
    
    timestampdiff(
        month, date_trunc('month', by_customer.first_order), date_trunc('month', by_customer.latest_order)
    )
 as months_of_orders,
    cast(
    timestampadd(month, 1, customers.joined)
 as date) as trial_ends,
    cast(cast(
        
    timestampadd(day, -1, 
    timestampadd(month, 1, date_trunc('month', customers.joined))
)

        as date) as date) as first_bill,
    coalesce(by_customer.number_of_orders, 0) as number_of_orders,
    coalesce(by_customer.lifetime_value, 0) as lifetime_value,
    coalesce(by_customer.has_returned, false) as has_returned,
    rank() over (order by coalesce(by_customer.lifetime_value, 0) desc) as place,
    latest_orders.items as latest_items
from `main`.`sandwiches`.`stg_customers` as customers
left join by_customer on by_customer.customer_id = customers.customer_id
left join `main`.`sandwiches`.`latest_orders` as latest_orders on latest_orders.customer_id = customers.customer_id