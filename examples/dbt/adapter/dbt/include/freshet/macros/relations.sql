{# How tables and views are created, renamed and dropped. Nothing drops what reads a relation, unless it says so. #}

{% macro freshet__create_view_as(relation, sql) -%}
  {%- set contract = config.get('contract') -%}
  {%- if contract.enforced %}{{ get_assert_columns_equivalent(sql) }}{% endif -%}
  create or replace view {{ relation.render() }} as
  {{ sql }}
{%- endmacro %}

{#- Freshet has no temporary tables. What dbt wants as one is dropped by name when it is done. -#}
{% macro freshet__create_table_as(temporary, relation, sql) -%}
  {%- set contract = config.get('contract') -%}
  {%- if temporary %}drop table if exists {{ relation.render() }};{% endif %}
  {%- if contract.enforced and not temporary %}
  {{ get_assert_columns_equivalent(sql) }}
  create table {{ relation.render() }} {{ get_table_columns_and_constraints() }};
  insert into {{ relation.render() }} ({{ default__get_column_names() }})
  {{ get_select_subquery(sql) }}
  {%- else %}
  create table {{ relation.render() }} as
  {{ sql }}
  {%- endif %}
{%- endmacro %}

{% macro freshet__drop_table(relation) -%}
  drop table if exists {{ relation.render() }}
{%- endmacro %}

{% macro freshet__drop_view(relation) -%}
  drop view if exists {{ relation.render() }}
{%- endmacro %}

{% macro freshet__drop_materialized_view(relation) -%}
  drop view if exists {{ relation.render() }}
{%- endmacro %}

{% macro freshet__rename_relation(from_relation, to_relation) -%}
  {% call statement('rename_relation') -%}
    alter {{ 'view' if from_relation.is_view else 'table' }} {{ from_relation.render() }} rename to {{ to_relation.render() }}
  {%- endcall %}
{%- endmacro %}

{#- The rows of `source` take the place of those of `target`, in one epoch: readers see one change. -#}
{% macro freshet__exchange_rows(target, source) -%}
  {% call statement('exchange_rows') -%}
    begin;
    delete from {{ target.render() }};
    insert into {{ target.render() }} select * from {{ source.render() }};
    commit
  {%- endcall %}
{%- endmacro %}

{#- Drops a relation so that another can have its name; with --full-refresh also the views that read it. -#}
{% macro freshet__make_way(relation) -%}
  {% call statement('make_way') -%}
    drop {{ 'view' if relation.is_view else 'table' }} if exists {{ relation.render() }} {{ 'cascade' if should_full_refresh() }}
  {%- endcall %}
  {% do adapter.cache_dropped(relation) %}
{%- endmacro %}

{#- Gives the rows of a copy to what exists, in one epoch, or the copy its place if the columns have changed. -#}
{% macro freshet__take_place(existing, target, copy) -%}
  {% if existing.is_table and not should_full_refresh() and adapter.has_columns_of(existing, copy) %}
    {% do freshet__exchange_rows(target, copy) %}
    {% do drop_relation(copy) %}
  {% else %}
    {% do freshet__make_way(existing) %}
    {% do adapter.rename_relation(copy, target) %}
  {% endif %}
{%- endmacro %}

{% macro freshet__get_create_materialized_view_as_sql(relation, sql) -%}
  {{ freshet__create_view_as(relation, sql) }}
{%- endmacro %}
