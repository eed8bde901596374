{{ newest(ref('orders'), 'customer_id', 'ordered_on desc, order_id desc') }}
