-- Bids with day and hour as texts, as a log that is divided by them.
SELECT
  auction, bidder, price, date_time, extra,
  to_char(date_time, 'YYYY-MM-DD') AS dt,
  to_char(date_time, 'HH24:MI') AS hm
FROM bid
