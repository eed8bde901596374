with raw as (

    select * from ANALYTICS.SANDWICHES.raw_customers

)

select
    id as customer_id,
    trim(first_name) as first_name,
    trim(first_name) || coalesce(' ' || last_name, '') as full_name,
    
    
        try_cast(joined as date)
     as joined
from raw