{# Names of schemas and databases. #}

{#- A custom schema of the schema `public` has its own name; elsewhere the target's schema comes first, as in dbt. -#}
{% macro freshet__generate_schema_name(custom_schema_name, node) -%}
  {%- set own = target.schema | trim -%}
  {%- if custom_schema_name is none -%}
    {{ own }}
  {%- elif own == 'public' -%}
    {{ custom_schema_name | trim }}
  {%- else -%}
    {{ own }}_{{ custom_schema_name | trim }}
  {%- endif -%}
{%- endmacro %}
