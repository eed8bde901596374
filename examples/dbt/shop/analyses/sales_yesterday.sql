-- dbt show --inline: what the sales were at an earlier epoch.
select now.placed, now.amount, before.amount as before
from {{ ref('daily_sales') }} as now
left join {{ as_of(ref('daily_sales'), 3) }} as before on before.placed = now.placed
