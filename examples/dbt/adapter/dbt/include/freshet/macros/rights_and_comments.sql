{# GRANT and COMMENT. Rights go by names and outlive a DROP, so dbt gives what is configured and takes nothing. #}

{% macro freshet__copy_grants() -%}
  {{ return(False) }}
{%- endmacro %}

{% macro freshet__apply_grants(relation, grant_config, should_revoke) -%}
  {% if grant_config %}
    {% do call_dcl_statements(get_dcl_statement_list(relation, grant_config, get_grant_sql)) %}
  {% endif %}
{%- endmacro %}

{% macro freshet__support_multiple_grantees_per_dcl_statement() -%}
  {{ return(False) }}
{%- endmacro %}

{% macro freshet__alter_relation_comment(relation, comment) -%}
  comment on {{ 'view' if relation.is_view else 'table' }} {{ relation.render() }} is {{ freshet__text(comment) }}
{%- endmacro %}

{% macro freshet__alter_column_comment(relation, column_dict) -%}
  {% for name, column in column_dict.items() %}
  comment on column {{ relation.render() }}.{{ adapter.quote(name) if column['quote'] else name }} is {{ freshet__text(column['description']) }};
  {% endfor %}
{%- endmacro %}

{% macro freshet__text(value) -%}
  '{{ (value or '') | replace("'", "''") }}'
{%- endmacro %}
