{# The safe_cast of these adapters is a cast, which fails. #}
{% macro databricks__safe_cast(field, type) %}
    try_cast({{ field }} as {{ type }})
{% endmacro %}

{% macro duckdb__safe_cast(field, type) %}
    try_cast({{ field }} as {{ type }})
{% endmacro %}
