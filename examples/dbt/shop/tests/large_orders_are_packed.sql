-- An order above 50 that nobody has packed is urgent. The view of this test is the list of such orders.
select order_id, amount from {{ ref('orders') }} where state = 'open' and amount > 50
