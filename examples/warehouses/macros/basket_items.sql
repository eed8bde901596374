{# The items of a basket, a JSON array of objects, as rows. #}
{% macro basket_items(relation) %}
    {{ return(adapter.dispatch('basket_items')(relation)) }}
{% endmacro %}

{% macro snowflake__basket_items(relation) %}
    select
        orders.order_id,
        basket.index as place,
        basket.value:item::varchar as item,
        basket.value:quantity::int as quantity
    from {{ relation }} as orders,
        lateral flatten(input => parse_json(orders.basket)) as basket
{% endmacro %}

{% macro bigquery__basket_items(relation) %}
    select
        orders.order_id,
        place,
        json_value(entry, '$.item') as item,
        cast(json_value(entry, '$.quantity') as int64) as quantity
    from {{ relation }} as orders
    cross join unnest(json_query_array(orders.basket)) as entry with offset as place
{% endmacro %}

{% macro databricks__basket_items(relation) %}
    select
        orders.order_id,
        place,
        entry.item as item,
        entry.quantity as quantity
    from {{ relation }} as orders
    lateral view posexplode(from_json(orders.basket, 'array<struct<item: string, quantity: int>>')) exploded
        as place, entry
{% endmacro %}

{% macro duckdb__basket_items(relation) %}
    select
        order_id,
        place - 1 as place,
        basket ->> ('$[' || (place - 1) || '].item') as item,
        cast(basket ->> ('$[' || (place - 1) || '].quantity') as integer) as quantity
    from {{ relation }}, unnest(range(1, 1 + cast(json_array_length(basket) as bigint))) as places (place)
{% endmacro %}
