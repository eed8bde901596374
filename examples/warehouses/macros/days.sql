{# The days from the first to the last, one a row. #}
{% macro days(first, last) %}
    {{ return(adapter.dispatch('days')(first, last)) }}
{% endmacro %}

{% macro snowflake__days(first, last) %}
    select dateadd(day, row_number() over (order by seq4()) - 1, to_date('{{ first }}')) as day
    from table(generator(rowcount => {{ modules.datetime.date.fromisoformat(last).toordinal() - modules.datetime.date.fromisoformat(first).toordinal() + 1 }}))
{% endmacro %}

{% macro bigquery__days(first, last) %}
    select day
    from unnest(generate_date_array('{{ first }}', '{{ last }}', interval 1 day)) as day
{% endmacro %}

{% macro databricks__days(first, last) %}
    select explode(sequence(to_date('{{ first }}'), to_date('{{ last }}'), interval 1 day)) as day
{% endmacro %}

{% macro duckdb__days(first, last) %}
    select cast(day as date) as day
    from generate_series(date '{{ first }}', date '{{ last }}', interval 1 day) as days (day)
{% endmacro %}
