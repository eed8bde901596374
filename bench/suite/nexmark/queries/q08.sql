-- Persons who opened an auction in the ten seconds in which they came.
SELECT p.id, p.name, p.window_start
FROM (
  SELECT id, name, time_bucket(INTERVAL '10 seconds', date_time) AS window_start
  FROM person
  GROUP BY id, name, time_bucket(INTERVAL '10 seconds', date_time)
) AS p
JOIN (
  SELECT seller, time_bucket(INTERVAL '10 seconds', date_time) AS window_start
  FROM auction
  GROUP BY seller, time_bucket(INTERVAL '10 seconds', date_time)
) AS a ON p.id = a.seller AND p.window_start = a.window_start
