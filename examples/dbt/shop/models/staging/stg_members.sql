with raw as (
    select * from {{ ref('raw_members') }}
)

select
    id as member_id,
    given_name,
    family_name,
    given_name || ' ' || family_name as full_name,
    joined
from raw
