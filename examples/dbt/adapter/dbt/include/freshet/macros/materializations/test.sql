{# A test whose failures are stored is a view of the failing rows: it stays up to date after dbt has ended. #}

{% materialization test, adapter='freshet' %}
  {%- set relations = [] -%}
  {%- set main_sql = get_limit_subquery_sql(sql, config.get('limit')) -%}

  {% if should_store_failures() %}
    {%- set existing = adapter.get_relation(database=database, schema=schema, identifier=model['alias']) -%}
    {%- set path = {'database': database, 'schema': schema, 'identifier': model['alias']} -%}
    {%- set failures = api.Relation.create(type='view', **path) -%}
    {% if existing is not none and not existing.is_view %}
      {% do freshet__make_way(existing) %}
    {% endif %}
    {% do adapter.maintain_view(failures, freshet__create_view_as(failures, main_sql), should_full_refresh()) %}
    {% do relations.append(failures) %}
    {%- set main_sql = 'select * from ' ~ failures.render() -%}
  {% endif %}

  {% call statement('main', fetch_result=True) -%}
    {{ get_test_sql(main_sql, config.get('fail_calc'), config.get('warn_if'), config.get('error_if'), limit=none) }}
  {%- endcall %}
  {{ return({'relations': relations}) }}
{% endmaterialization %}
