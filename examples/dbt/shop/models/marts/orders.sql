{% set coffees = ['Antigua', 'Huila', 'Yirgacheffe'] %}

with items as (

    select
        order_id,
        sum(amount) as amount,
        sum(bags) as bags
        {%- for coffee in coffees %},
        sum(case when coffee = '{{ coffee }}' then amount else 0 end) as {{ coffee | lower }}_amount
        {%- endfor %}
    from {{ ref('stg_items') }}
    group by order_id

),

numbered as (

    select
        *,
        row_number() over (partition by member_id order by placed, order_id) as number_of_member
    from {{ ref('stg_orders') }}

)

select
    numbered.order_id,
    numbered.member_id,
    numbered.placed,
    numbered.state,
    numbered.number_of_member,
    coalesce(items.bags, 0) as bags,
    coalesce(items.amount, 0) as amount
    {%- for coffee in coffees %},
    coalesce(items.{{ coffee | lower }}_amount, 0) as {{ coffee | lower }}_amount
    {%- endfor %}
from numbered
left join items on items.order_id = numbered.order_id
