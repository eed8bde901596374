{# `view`, `incremental` and `materialized_view` are one thing in Freshet: a view that is kept up to date.

A view is replaced in place, so that the views that read it go on. A query that is the same changes nothing. #}

{#- A view takes every change as it comes, so no model is ever compiled for the rows that are new. -#}
{% macro is_incremental() %}
  {{ return(False) }}
{% endmacro %}

{% macro freshet__maintain() %}
  {%- set existing = load_cached_relation(this) -%}
  {%- set target_relation = this.incorporate(type='view') -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {% if existing is not none and not existing.is_view %}
    {#- The table goes only if the query can be a view. -#}
    {% call statement('check') %}explain {{ sql }}{% endcall %}
    {% do freshet__make_way(existing) %}
  {% endif %}
  {%- set create = get_create_view_as_sql(target_relation, sql) -%}
  {% do adapter.maintain_view(target_relation, create, should_full_refresh()) %}
  {% call noop_statement('main', 'CREATE VIEW', 'CREATE VIEW') %}{{ create }}{% endcall %}

  {% do apply_grants(target_relation, config.get('grants'), should_revoke=False) %}
  {% do persist_docs(target_relation, model) %}

  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}
  {{ return({'relations': [target_relation]}) }}
{% endmacro %}

{% materialization view, adapter='freshet' %}
  {{ return(freshet__maintain()) }}
{% endmaterialization %}

{% materialization incremental, adapter='freshet' %}
  {{ return(freshet__maintain()) }}
{% endmaterialization %}

{% materialization materialized_view, adapter='freshet' %}
  {{ return(freshet__maintain()) }}
{% endmaterialization %}
