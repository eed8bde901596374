{% macro in_euros(cents) %}
    cast({{ cents }} as {{ 'numeric' if target.type == 'bigquery' else 'decimal(18, 2)' }}) / 100
{% endmacro %}
