{# dbt's own snapshots: a table of versions, changed by MERGE. These macros say how Freshet tells the time. #}

{% macro freshet__current_timestamp() -%}
  now()
{%- endmacro %}

{% macro freshet__snapshot_get_time() -%}
  cast(now() as timestamp)
{%- endmacro %}

{% macro freshet__snapshot_string_as_time(timestamp) -%}
  {{ return("cast('" ~ timestamp ~ "' as timestamp)") }}
{%- endmacro %}

{% macro freshet__post_snapshot(staging_relation) -%}
  {% do drop_relation(staging_relation) %}
{%- endmacro %}

{#- A relation as of an epoch or a time, for tables, tests and analyses. A maintained view follows the newest state. -#}
{% macro as_of(relation, moment) -%}
  {%- if moment is number -%}
    {{ relation }} version as of {{ moment }}
  {%- else -%}
    {{ relation }} timestamp as of '{{ moment }}'
  {%- endif -%}
{%- endmacro %}
