with raw as (

    select * from {{ ref('raw_customers') }}

)

select
    id as customer_id,
    trim(first_name) as first_name,
    {{ dbt.concat(["trim(first_name)", "coalesce(' ' || last_name, '')"]) }} as full_name,
    {{ dbt.safe_cast("joined", "date") }} as joined
from raw
