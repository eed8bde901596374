-- The auctions with the most bids in windows of ten seconds that begin every two.
WITH counted AS (
  SELECT auction, slide - hop * INTERVAL '2 seconds' AS window_start, count(*) AS bids
  FROM (SELECT auction, time_bucket(INTERVAL '2 seconds', date_time) AS slide FROM bid) AS b
  CROSS JOIN generate_series(0, 4) AS hops (hop)
  GROUP BY auction, slide - hop * INTERVAL '2 seconds'
)
SELECT auction, bids, window_start
FROM counted AS c
WHERE bids = (SELECT max(bids) FROM counted AS m WHERE m.window_start = c.window_start)
