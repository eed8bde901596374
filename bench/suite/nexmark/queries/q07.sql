-- The highest bids of each ten seconds.
SELECT b.auction, b.bidder, b.price, b.date_time, b.extra
FROM bid AS b
JOIN (
  SELECT max(price) AS price, time_bucket(INTERVAL '10 seconds', date_time) AS window_start
  FROM bid
  GROUP BY time_bucket(INTERVAL '10 seconds', date_time)
) AS highest
  ON b.price = highest.price
  AND b.date_time >= window_start
  AND b.date_time < window_start + INTERVAL '10 seconds'
