-- The last bid of each person on each auction.
SELECT auction, bidder, price, channel, url, date_time, extra
FROM (
  SELECT *, row_number() OVER (PARTITION BY bidder, auction ORDER BY date_time DESC, number DESC) AS place
  FROM bid
) AS placed
WHERE place <= 1
