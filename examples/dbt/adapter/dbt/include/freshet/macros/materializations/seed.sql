{# The rows of a seed go to the service as CSV, and it reads them as the types of the columns.

A seed that is loaded again is loaded beside the old rows, which it then replaces in one epoch. #}

{% macro freshet__create_seed_table(relation, agate_table) %}
  {%- set types = model['config'].get('column_types', {}) -%}
  {%- set columns = [] -%}
  {%- for name in agate_table.column_names -%}
    {%- do columns.append(adapter.quote(name) ~ ' ' ~ types.get(name, adapter.convert_type(agate_table, loop.index0))) -%}
  {%- endfor -%}
  {%- set sql = 'create table ' ~ relation.render() ~ ' (' ~ columns | join(', ') ~ ')' -%}
  {% call statement('_') %}{{ sql }}{% endcall %}
  {{ return(sql) }}
{% endmacro %}

{% materialization seed, adapter='freshet' %}
  {%- set existing = load_cached_relation(this) -%}
  {%- set target_relation = this.incorporate(type='table') -%}
  {%- set agate_table = load_agate_table() -%}
  {%- set count = agate_table.rows | length -%}
  {%- do store_result('agate_table', response='OK', agate_table=agate_table) -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {% if existing is none %}
    {%- set sql = freshet__create_seed_table(target_relation, agate_table) -%}
    {% do adapter.load_seed(target_relation, agate_table) %}
  {% else %}
    {%- set copy = make_temp_relation(target_relation) -%}
    {% do drop_relation(copy) %}
    {%- set sql = freshet__create_seed_table(copy, agate_table) -%}
    {% do adapter.load_seed(copy, agate_table) %}
    {% do freshet__take_place(existing, target_relation, copy) %}
  {% endif %}
  {% call noop_statement('main', 'INSERT ' ~ count, 'INSERT', count) %}{{ sql }}{% endcall %}

  {% do apply_grants(target_relation, config.get('grants'), should_revoke=False) %}
  {% do persist_docs(target_relation, model) %}

  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}
  {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}
