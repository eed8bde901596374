{# dbt's functions across databases, in the SQL of PostgreSQL, for views too. #}

{% macro freshet__dateadd(datepart, interval, from_date_or_timestamp) -%}
  ({{ from_date_or_timestamp }} + (interval '1 {{ datepart }}') * ({{ interval }}))
{%- endmacro %}

{% macro freshet__datediff(first_date, second_date, datepart) -%}
  {%- set part = datepart | lower -%}
  {%- set seconds = {'day': 86400, 'week': 604800, 'hour': 3600, 'minute': 60, 'second': 1} -%}
  {%- set months = {'month': 1, 'quarter': 3, 'year': 12} -%}
  {%- set first = 'cast(' ~ first_date ~ ' as timestamp)' -%}
  {%- set second = 'cast(' ~ second_date ~ ' as timestamp)' -%}
  {%- if part in months -%}
    {%- set by = months[part] -%}
    (cast(
      (date_part('year', date_trunc('{{ part }}', {{ second }})) - date_part('year', date_trunc('{{ part }}', {{ first }}))) * 12
      + date_part('month', date_trunc('{{ part }}', {{ second }})) - date_part('month', date_trunc('{{ part }}', {{ first }}))
    as bigint) / {{ by }})
  {%- elif part in seconds -%}
    (cast(
      date_part('epoch', date_trunc('{{ part }}', {{ second }})) - date_part('epoch', date_trunc('{{ part }}', {{ first }}))
    as bigint) / {{ seconds[part] }})
  {%- else -%}
    {{ exceptions.raise_compiler_error("datediff knows no part '" ~ datepart ~ "' on Freshet: write second, minute, hour, day, week, month, quarter or year") }}
  {%- endif -%}
{%- endmacro %}

{% macro freshet__last_day(date, datepart) -%}
  cast({{ dbt.dateadd('day', '-1', dbt.dateadd(datepart if datepart != 'quarter' else 'month', 3 if datepart == 'quarter' else 1, dbt.date_trunc(datepart, date))) }} as date)
{%- endmacro %}

{% macro freshet__listagg(measure, delimiter_text, order_by_clause, limit_num) -%}
  {%- if limit_num -%}
    array_to_string((array_agg({{ measure }} {{ order_by_clause or '' }}))[1:{{ limit_num }}], {{ delimiter_text }})
  {%- else -%}
    string_agg({{ measure }}, {{ delimiter_text }} {{ order_by_clause or '' }})
  {%- endif -%}
{%- endmacro %}
