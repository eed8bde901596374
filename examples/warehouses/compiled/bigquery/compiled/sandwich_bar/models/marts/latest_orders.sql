
    select newest.*
    from (
        select array_agg(candidates order by ordered_on desc, order_id desc limit 1)[offset(0)] as newest
        from `sandwich-bar`.`sandwiches`.`orders` as candidates
        group by customer_id
    )
