{# One text for several columns, hashed; a column that is NULL differs from an empty one. #}
{% macro surrogate_key(columns) %}
    {%- set parts = [] -%}
    {%- for column in columns -%}
        {%- do parts.append("coalesce(cast(" ~ column ~ " as " ~ dbt.type_string() ~ "), '_null_')") -%}
        {%- if not loop.last -%}{%- do parts.append("'-'") -%}{%- endif -%}
    {%- endfor -%}
    {{ dbt.hash(dbt.concat(parts)) }}
{% endmacro %}
