-- The winning bid of each auction.
SELECT id, item_name, category, seller, expires, auction, bidder, price, bid_time
FROM (
  SELECT
    a.id, a.item_name, a.category, a.seller, a.expires, b.auction, b.bidder, b.price, b.date_time AS bid_time,
    row_number() OVER (PARTITION BY a.id ORDER BY b.price DESC, b.date_time, b.number) AS place
  FROM auction AS a JOIN bid AS b ON a.id = b.auction AND b.date_time BETWEEN a.date_time AND a.expires
) AS placed
WHERE place <= 1
