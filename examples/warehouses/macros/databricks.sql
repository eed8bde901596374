{# What the adapter writes for a warehouse of today; its own macros ask the warehouse for its version. #}
{% macro databricks__dateadd(datepart, interval, from_date_or_timestamp) %}
    timestampadd({{ datepart }}, {{ interval }}, {{ from_date_or_timestamp }})
{% endmacro %}

{% macro databricks__datediff(first_date, second_date, datepart) %}
    timestampdiff(
        {{ datepart }}, {{ date_trunc(datepart, first_date) }}, {{ date_trunc(datepart, second_date) }}
    )
{% endmacro %}

{# The adapter's listagg has no order. #}
{% macro databricks__listagg(measure, delimiter_text, order_by_clause, limit_num) %}
    array_join(array_sort(collect_list({{ measure }})), {{ delimiter_text }})
{% endmacro %}
