-- How often a person bids in each ten seconds.
SELECT
  bidder,
  count(*) AS bids,
  time_bucket(INTERVAL '10 seconds', date_time) AS starttime,
  time_bucket(INTERVAL '10 seconds', date_time) + INTERVAL '10 seconds' AS endtime
FROM bid
GROUP BY bidder, time_bucket(INTERVAL '10 seconds', date_time)
