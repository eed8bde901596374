{# A table is a copy of the rows of the moment.

If the columns stay the same, the new rows replace the old ones in one epoch, and views that read the table see one
change. Otherwise the table is exchanged, which views that read it forbid without --full-refresh. #}

{% materialization table, adapter='freshet' %}
  {%- set existing = load_cached_relation(this) -%}
  {%- set target_relation = this.incorporate(type='table') -%}
  {%- set copy = make_temp_relation(target_relation) -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {% if existing is none %}
    {% call statement('main') %}{{ get_create_table_as_sql(False, target_relation, sql) }}{% endcall %}
  {% else %}
    {% do drop_relation(copy) %}
    {% call statement('main') %}{{ get_create_table_as_sql(False, copy, sql) }}{% endcall %}
    {% do freshet__take_place(existing, target_relation, copy) %}
  {% endif %}

  {% do apply_grants(target_relation, config.get('grants'), should_revoke=False) %}
  {% do persist_docs(target_relation, model) %}

  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}
  {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}
