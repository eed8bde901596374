{# The newest row of each group. #}
{% macro newest(relation, group_by, order_by) %}
    {{ return(adapter.dispatch('newest')(relation, group_by, order_by)) }}
{% endmacro %}

{% macro default__newest(relation, group_by, order_by) %}
    select *
    from {{ relation }}
    qualify row_number() over (partition by {{ group_by }} order by {{ order_by }}) = 1
{% endmacro %}

{% macro bigquery__newest(relation, group_by, order_by) %}
    select newest.*
    from (
        select array_agg(candidates order by {{ order_by }} limit 1)[offset(0)] as newest
        from {{ relation }} as candidates
        group by {{ group_by }}
    )
{% endmacro %}
