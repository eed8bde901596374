-- The average closing price of a seller's last ten auctions.
SELECT
  seller,
  id,
  avg(final) OVER (PARTITION BY seller ORDER BY closed, id ROWS BETWEEN 9 PRECEDING AND CURRENT ROW) AS average
FROM (
  SELECT a.id, a.seller, max(b.price) AS final, max(b.date_time) AS closed
  FROM auction AS a JOIN bid AS b ON a.id = b.auction AND b.date_time BETWEEN a.date_time AND a.expires
  GROUP BY a.id, a.seller
) AS winning
