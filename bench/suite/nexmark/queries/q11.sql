-- How often a person bids in a session that ends with ten seconds of silence.
WITH gaps AS (
  SELECT
    bidder, number, date_time,
    CASE
      WHEN date_time - lag(date_time) OVER (PARTITION BY bidder ORDER BY date_time, number) <= INTERVAL '10 seconds'
      THEN 0 ELSE 1
    END AS begins
  FROM bid
), sessions AS (
  SELECT bidder, date_time, sum(begins) OVER (PARTITION BY bidder ORDER BY date_time, number) AS session
  FROM gaps
)
SELECT bidder, count(*) AS bids, min(date_time) AS starttime, max(date_time) + INTERVAL '10 seconds' AS endtime
FROM sessions
GROUP BY bidder, session
