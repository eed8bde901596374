
    select *
    from "memory"."main"."orders"
    qualify row_number() over (partition by customer_id order by ordered_on desc, order_id desc) = 1
