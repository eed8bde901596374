-- The ten highest bids on each auction.
SELECT *
FROM (
  SELECT *, row_number() OVER (PARTITION BY auction ORDER BY price DESC, number) AS rank_number FROM bid
) AS placed
WHERE rank_number <= 10
