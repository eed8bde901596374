



with payments as (

    select
        order_id,
        
    sum(case when method = 'card' then amount else 0 end) as card_amount,
    sum(case when method = 'cash' then amount else 0 end) as cash_amount,
    sum(case when method = 'coupon' then amount else 0 end) as coupon_amount,
    sum(case when method = 'gift_card' then amount else 0 end) as gift_card_amount
,
        sum(amount) as amount
    from "memory"."main"."stg_payments"
    group by order_id

),

items as (

    select
        order_id,
        sum(quantity) as pieces,
        
    string_agg(
        item,
        ', '
        order by item
        ) as items
    from "memory"."main"."stg_items"
    group by order_id

)

select
    orders.order_id,
    orders.order_key,
    orders.customer_id,
    orders.ordered_on,
    orders.ordered_in,
    orders.status,
    coalesce(orders.table_number, 0) as table_number,
    coalesce(items.pieces, 0) as pieces,
    items.items,
    coalesce(payments.card_amount, 0) as card_amount,
    coalesce(payments.cash_amount, 0) as cash_amount,
    coalesce(payments.coupon_amount, 0) as coupon_amount,
    coalesce(payments.gift_card_amount, 0) as gift_card_amount,
    coalesce(payments.amount, 0) as amount
from "memory"."main"."stg_orders" as orders
left join payments on payments.order_id = orders.order_id
left join items on items.order_id = orders.order_id
