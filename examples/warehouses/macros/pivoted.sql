{# A column for each of the values, with the sum of an amount. #}
{% macro pivoted(column, values, amount) %}
    {%- for value in values %}
    sum(case when {{ column }} = '{{ value }}' then {{ amount }} else 0 end) as {{ value }}_amount
    {%- if not loop.last %},{% endif -%}
    {% endfor %}
{% endmacro %}
