{{ basket_items(ref('stg_orders')) }}
