-- Queries over the tables of `tests/planner/samples.py`. Each is planned, answered by its plan over the sample
-- rows, and maintained over random changes; DuckDB has the same rows each time. A query stands in a line, and what
-- it has is the same whatever the order of rows: LIMIT comes with an order of all rows.

-- # expressions
SELECT a, b, c FROM t;
SELECT * FROM t;
SELECT t.*, a + 1 AS n FROM t;
SELECT a + 1, a - 1, a * 2, a % 2, -a, abs(-a) FROM t;
SELECT a / 2, 7 / 2, -7 / 2, -7 % 3 FROM t;
SELECT c / 2, c * a, c + a, a / 2.0 FROM t;
SELECT p + 1, p * 2, p * p, p - 0.125, p / 4, p % 2, -p, abs(p) FROM k;
SELECT q + q, q * 2, q + 1, id * q FROM k;
SELECT a = 1, a <> 1, a < 2, a <= 2, a > 2, a >= 2 FROM t;
SELECT a > 1 AND c > 1, a > 1 OR c > 1, NOT (a > 1) FROM t;
SELECT a IS NULL, a IS NOT NULL, e IS TRUE, e IS NOT FALSE, e IS DISTINCT FROM TRUE FROM u;
SELECT a BETWEEN 1 AND 2, a NOT BETWEEN 2 AND 3, a IN (1, NULL), a NOT IN (1, 2) FROM t;
SELECT CASE WHEN a > 2 THEN 'big' WHEN a > 1 THEN 'two' ELSE b END FROM t;
SELECT CASE a WHEN 1 THEN 10 WHEN 2 THEN 2.5 END FROM t;
SELECT coalesce(a, c, 0), nullif(a, 1), greatest(a, 2), least(a, c) FROM t;
SELECT CAST(a AS BIGINT), CAST(c AS INTEGER), CAST(a AS TEXT), a::numeric(6, 2), c::real FROM t;
SELECT upper(b), length(b), b || '!', substr(b, 1, 1), concat(b, a), replace(b, 'x', '{0}') FROM t;
SELECT b LIKE 'x%', b ILIKE 'Z%', b LIKE '%', lower(upper(b)) || a FROM t;
SELECT round(c), round(p, 1), floor(c), ceil(c), sqrt(abs(c)) FROM t, k;
SELECT extract(year FROM day), date_trunc('month', at), day + 1, day - DATE '2000-01-01' FROM days;
SELECT day > '2000-01-01', at = TIMESTAMP '2020-01-31 12:30:00', day = at FROM days;
SELECT day + INTERVAL '1 day', at - INTERVAL '2 hours', at + id * INTERVAL '1 day' FROM days;
SELECT extract(epoch FROM at - day), at - day > INTERVAL '12 hours', day + id + 1 + 1 + 1 + 1 FROM days;
SELECT b LIKE 'Z!%' ESCAPE '!', b SIMILAR TO '[xyZ]', b ~ '^[a-z]', b || NULL, regexp_replace(b, 'e', 'E') FROM t;
SELECT trim(both 'x' from b), position('e' in b), left(b, 1), lpad(b, 5, '*'), power(a, 2), sign(c) FROM t;
SELECT NULL, NULL AS n, 1, 'x', TRUE, 1.5, 1e3 FROM t;
SELECT 1;
SELECT 1 AS x WHERE 1 = 2;
SELECT (id, q) = (1, 1), (id, q) IN ((1, 1), (2, 3)), (id, q) <> (2, 2) FROM k;
SELECT a = '1', '2020-01-31' = day FROM t, days;
SELECT a AS x, x + 1 AS y FROM t;
SELECT a AS x FROM t WHERE x > 1;

-- # filters
SELECT * FROM t WHERE a > 1;
SELECT * FROM t WHERE a > 1 AND b IS NOT NULL;
SELECT * FROM t WHERE NOT (a = 1);
SELECT * FROM t WHERE a = 1 OR c < 0;
SELECT * FROM t WHERE NULL;
SELECT * FROM t WHERE TRUE;
SELECT b FROM t WHERE a IN (1, 3, 5);
SELECT b FROM t WHERE a NOT IN (1, NULL);
SELECT * FROM u WHERE e;
SELECT x.n FROM (SELECT a + 1 AS n FROM t WHERE a < 4) x WHERE x.n > 2;

-- # joins
SELECT * FROM t, u;
SELECT * FROM t CROSS JOIN u;
SELECT * FROM t JOIN u ON t.a = u.a;
SELECT * FROM t, u WHERE t.a = u.a;
SELECT * FROM t JOIN u ON t.a < u.a;
SELECT * FROM t JOIN u ON t.a = u.a AND t.c > u.d / 10;
SELECT * FROM t JOIN u ON t.a + 1 = u.a;
SELECT * FROM t JOIN u ON t.a IS NOT DISTINCT FROM u.a;
SELECT * FROM t LEFT JOIN u ON t.a = u.a;
SELECT * FROM t RIGHT JOIN u ON t.a = u.a;
SELECT * FROM t FULL JOIN u ON t.a = u.a;
SELECT * FROM t LEFT JOIN u ON t.a = u.a AND t.b = 'x';
SELECT * FROM t LEFT JOIN u ON t.a = u.a AND u.e;
SELECT * FROM t LEFT JOIN u ON t.a < u.a;
SELECT * FROM t LEFT JOIN u ON t.a + u.a = 3 AND t.b = 'x';
SELECT * FROM t FULL JOIN u ON t.a < u.a AND u.d > 10;
SELECT * FROM t FULL JOIN u ON t.a = u.a AND t.b = 'x' AND u.e;
SELECT * FROM t LEFT JOIN u ON TRUE;
SELECT * FROM t LEFT JOIN none ON TRUE;
SELECT * FROM t LEFT JOIN u ON FALSE;
SELECT * FROM none FULL JOIN u ON TRUE;
SELECT count(*) FROM t LEFT JOIN u ON t.a = u.a;
SELECT count(*) FROM t FULL JOIN u ON t.a = u.a WHERE t.a IS NULL;
SELECT x.a, y.b FROM t x JOIN t y ON x.a = y.a;
SELECT * FROM t JOIN u USING (a);
SELECT a, t.a, u.a FROM t LEFT JOIN u USING (a);
SELECT a, t.a, u.a FROM t RIGHT JOIN u USING (a);
SELECT a, t.a, u.a FROM t FULL JOIN u USING (a);
SELECT * FROM t FULL JOIN u USING (a);
SELECT * FROM t NATURAL JOIN u;
SELECT * FROM t JOIN u USING (a) JOIN k ON k.id = a;
SELECT a, x.b FROM t JOIN u USING (a) JOIN t x USING (a);
SELECT * FROM t LEFT JOIN (u JOIN k ON u.a = k.id) ON t.a = u.a;
SELECT * FROM t, u RIGHT JOIN k ON u.a = k.id;
SELECT t.a, k.p FROM t JOIN k ON t.a = k.id LEFT JOIN u ON u.a = k.q AND u.d > t.c;
SELECT * FROM t x LEFT JOIN t y ON x.a = y.a WHERE y.a IS NULL;
SELECT * FROM t x LEFT JOIN t y ON x.a = y.a WHERE y.c > 1;
SELECT e1.src, e3.dst FROM edges e1, edges e2, edges e3 WHERE e1.dst = e2.src AND e2.dst = e3.src;
SELECT t.a FROM t, u, k WHERE t.a = k.id AND k.q = u.a AND t.c > 0;

-- # groups
SELECT a, count(*) FROM t GROUP BY a;
SELECT a, count(*), count(b), count(c), sum(c), avg(c), min(b), max(c) FROM t GROUP BY a;
SELECT count(*), count(a), sum(a), avg(a), min(a), max(b) FROM t;
SELECT count(*), sum(a), min(b) FROM none;
SELECT a, count(*) FROM none GROUP BY a;
SELECT sum(p), avg(p), min(p), sum(q), avg(q) FROM k;
SELECT count(DISTINCT a), sum(DISTINCT a), avg(DISTINCT a), count(a) FROM t;
SELECT a, count(DISTINCT b), count(DISTINCT c), max(DISTINCT c), count(*) FROM t GROUP BY a;
SELECT e, count(DISTINCT a) FROM u GROUP BY e;
SELECT count(*) FILTER (WHERE a > 1), sum(c) FILTER (WHERE b = 'x') FROM t;
SELECT b, count(DISTINCT a) FILTER (WHERE c > 1) FROM t GROUP BY b;
SELECT a + 1, count(*) FROM t GROUP BY a + 1;
SELECT a + 1 AS n, count(*) FROM t GROUP BY n;
SELECT a % 2 AS a, count(*) FROM t GROUP BY 1;
SELECT a, b, count(*) FROM t GROUP BY 2, a;
SELECT a % 2, a % 2 + 1, sum(c) + 1 FROM t GROUP BY a % 2;
SELECT a, sum(c) AS s FROM t GROUP BY a HAVING sum(c) > 1;
SELECT a FROM t GROUP BY a HAVING count(*) > 1;
SELECT a FROM t GROUP BY a, b;
SELECT sum(a) FROM t HAVING count(*) > 100;
SELECT 1 FROM t HAVING TRUE;
SELECT max(a + 1) - min(a) FROM t;
SELECT x.m, count(*) FROM (SELECT a, max(c) AS m FROM t GROUP BY a) x GROUP BY x.m;
SELECT t.a, count(u.a), count(*) FROM t LEFT JOIN u ON t.a = u.a GROUP BY t.a;
SELECT bool_and(e), bool_or(e) FROM u;
SELECT a, sum(CASE WHEN e THEN d ELSE 0 END) FROM u GROUP BY a;
SELECT 'k', count(*) FROM t GROUP BY 'k';
SELECT min(day), max(at) FROM days;
SELECT count(*) FROM (SELECT sum(a) FROM t);

-- # sets
SELECT DISTINCT a FROM t;
SELECT DISTINCT a, b FROM t;
SELECT a FROM t UNION SELECT a FROM u;
SELECT a FROM t UNION ALL SELECT a FROM u;
SELECT a FROM t EXCEPT SELECT a FROM u;
SELECT a FROM t EXCEPT ALL SELECT a FROM u;
SELECT a FROM t INTERSECT SELECT a FROM u;
SELECT a FROM t INTERSECT ALL SELECT a FROM u;
SELECT a FROM t UNION ALL SELECT d FROM u UNION SELECT id FROM k;
SELECT a, 'x' FROM t UNION SELECT NULL, b FROM t;
SELECT a FROM t UNION SELECT p FROM k;
SELECT NULL UNION SELECT a FROM t;
(SELECT a FROM t EXCEPT SELECT 1) UNION ALL (SELECT a FROM u INTERSECT SELECT a FROM t);
VALUES (1, 'a'), (2, NULL), (1, 'a');
SELECT x + 1, y FROM (VALUES (1, 2.5), (3, 4), (1 + 1, NULL)) v(x, y);
SELECT count(*) FROM (SELECT a FROM t UNION SELECT a FROM u) x;

-- # ctes
WITH x AS (SELECT a FROM t WHERE a > 1) SELECT * FROM x;
WITH x(n) AS (SELECT a FROM t), y AS (SELECT n + 1 AS m FROM x) SELECT * FROM x JOIN y ON x.n = y.m;
WITH x AS (SELECT a, count(*) AS n FROM t GROUP BY a) SELECT * FROM x p, x q WHERE p.n < q.n;
WITH t AS (SELECT a + 10 AS a FROM t) SELECT * FROM t;
WITH x AS (WITH y AS (SELECT a FROM u) SELECT * FROM y) SELECT * FROM x, x z;

-- # exists
SELECT * FROM t WHERE EXISTS (SELECT 1 FROM u);
SELECT * FROM t WHERE EXISTS (SELECT 1 FROM none);
SELECT * FROM t WHERE NOT EXISTS (SELECT 1 FROM none);
SELECT * FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a);
SELECT * FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.a = t.a);
SELECT * FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a > t.a AND u.d < 30);
SELECT * FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a AND u.d > t.c * 7);
SELECT * FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.a IS NOT DISTINCT FROM t.a);
SELECT a, EXISTS (SELECT 1 FROM u WHERE u.a = t.a) AS x FROM t;
SELECT * FROM t WHERE a = 3 OR EXISTS (SELECT 1 FROM u WHERE u.a = t.a);
SELECT * FROM t WHERE NOT (a = 3 OR EXISTS (SELECT 1 FROM u WHERE u.a = t.a));
SELECT * FROM t WHERE EXISTS (SELECT 1 FROM u WHERE EXISTS (SELECT 1 FROM k WHERE k.id = u.a AND k.q = t.a));
SELECT * FROM t WHERE EXISTS (SELECT count(*) FROM u WHERE u.a = t.a HAVING count(*) > 1);
SELECT * FROM t WHERE EXISTS (SELECT count(*) FROM u WHERE u.a = t.a);
SELECT * FROM t WHERE EXISTS (SELECT 1 FROM u LEFT JOIN k ON k.id = t.a WHERE k.p IS NULL AND u.a = t.a);
SELECT * FROM t WHERE EXISTS (SELECT a FROM u WHERE u.a = t.a UNION SELECT id FROM k WHERE k.id = t.a + 1);
SELECT * FROM t WHERE EXISTS (SELECT d FROM u WHERE u.a = t.a EXCEPT SELECT q FROM k WHERE k.id = t.a);
SELECT x.a FROM (SELECT a, count(*) AS n FROM t GROUP BY a) x WHERE EXISTS (SELECT 1 FROM u WHERE u.a = x.n);
SELECT * FROM t SEMI JOIN u ON t.a = u.a AND t.c < u.d;
SELECT * FROM t ANTI JOIN u ON t.a = u.a;
SELECT * FROM t ANTI JOIN u ON t.a = u.a AND t.c > 2;
SELECT * FROM t SEMI JOIN u ON t.a = u.a AND t.c < 2;
SELECT * FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.a = t.a AND t.c > 2);

-- # in
SELECT * FROM t WHERE a IN (SELECT a FROM u);
SELECT * FROM t WHERE a NOT IN (SELECT a FROM u);
SELECT * FROM t WHERE a NOT IN (SELECT a FROM u WHERE a IS NOT NULL);
SELECT * FROM t WHERE a NOT IN (SELECT a FROM none);
SELECT * FROM t WHERE a NOT IN (SELECT id FROM k);
SELECT * FROM k WHERE id NOT IN (SELECT a FROM t);
SELECT * FROM k WHERE id NOT IN (SELECT q FROM k);
SELECT a, a IN (SELECT a FROM u), a NOT IN (SELECT a FROM u) FROM t;
SELECT a, a IN (SELECT a FROM none), a IN (SELECT id FROM k), a NOT IN (SELECT id FROM k) FROM t;
SELECT id, id IN (SELECT q FROM k), id IN (SELECT a FROM u) FROM k;
SELECT * FROM t WHERE a = 3 OR a IN (SELECT a FROM u);
SELECT * FROM t WHERE a = 3 OR a NOT IN (SELECT a FROM u);
SELECT * FROM t WHERE (a IN (SELECT a FROM u)) IS NULL;
SELECT CASE WHEN a IN (SELECT a FROM u) THEN 'in' WHEN a NOT IN (SELECT a FROM u) THEN 'out' END FROM t;
SELECT * FROM t WHERE a + 1 IN (SELECT a FROM u);
SELECT * FROM t WHERE a + 1 NOT IN (SELECT a FROM u WHERE d > 5);
SELECT * FROM t WHERE a IN (SELECT u.a FROM u WHERE u.d > t.c * 7);
SELECT * FROM t WHERE a NOT IN (SELECT u.a FROM u WHERE u.d > t.c * 7);
SELECT a, c, a NOT IN (SELECT u.a FROM u WHERE u.d > t.c * 7) FROM t;
SELECT * FROM t WHERE a NOT IN (SELECT u.a FROM u WHERE u.a = t.a);
SELECT * FROM k WHERE (id, q) IN (SELECT a, a FROM u);
SELECT * FROM t WHERE a = ANY (SELECT a FROM u);
SELECT * FROM t WHERE a > ANY (SELECT a FROM u);
SELECT * FROM t WHERE a < ALL (SELECT a FROM u);
SELECT * FROM t WHERE a <= ALL (SELECT a FROM u WHERE a IS NOT NULL);
SELECT a, a > ALL (SELECT a FROM none), a > ANY (SELECT a FROM none), a <> ALL (SELECT a FROM u) FROM t;
SELECT * FROM t WHERE NOT (a IN (SELECT a FROM u) AND b IN (SELECT b FROM t));
SELECT a FROM t WHERE a IN (SELECT id FROM k WHERE q IN (SELECT a FROM u WHERE u.d > k.id));
SELECT a FROM t GROUP BY a HAVING count(*) IN (SELECT q FROM k);
SELECT a FROM t WHERE (SELECT max(d) FROM u WHERE u.a = t.a) NOT IN (SELECT q * 11 FROM k);
SELECT a, (SELECT max(q) FROM k) IN (SELECT a FROM u WHERE u.d > t.c) FROM t;

-- # scalar
SELECT a, (SELECT max(d) FROM u) FROM t;
SELECT a, (SELECT max(d) FROM u WHERE u.a = t.a) FROM t;
SELECT a, (SELECT count(*) FROM u WHERE u.a = t.a) FROM t;
SELECT a, (SELECT count(*) + 1 FROM u WHERE u.a = t.a AND u.e) FROM t;
SELECT a, (SELECT sum(u.d) + t.a FROM u WHERE u.a = t.a) FROM t;
SELECT a, (SELECT sum(u.d + t.a) FROM u WHERE u.a < t.a) FROM t;
SELECT a, (SELECT p FROM k WHERE k.id = t.a) FROM t;
SELECT a, (SELECT p + t.c FROM k WHERE k.id = t.a) FROM t;
SELECT a, (SELECT a FROM none) FROM t;
SELECT a, (SELECT t.a + 1) FROM t;
SELECT a FROM t WHERE c > (SELECT avg(c) FROM t);
SELECT a FROM t WHERE c > (SELECT avg(x.c) FROM t x WHERE x.a = t.a);
SELECT a FROM t WHERE (SELECT count(*) FROM u WHERE u.a = t.a) = 0;
SELECT a FROM t WHERE a = (SELECT min(a) FROM u) OR c = (SELECT max(c) FROM t);
SELECT a, (SELECT count(DISTINCT d) FROM u WHERE u.a = t.a OR u.a IS NULL) FROM t;
SELECT a, (SELECT count(*) FROM u WHERE u.a = t.a HAVING count(*) > 1) FROM t;
SELECT a, (SELECT count(*) FROM (SELECT DISTINCT d FROM u WHERE u.a = t.a) x) FROM t;
SELECT a, (SELECT count(*) FROM u JOIN k ON u.a = k.id AND k.q = t.a) FROM t;
SELECT a, (SELECT count(*) FROM u LEFT JOIN k ON u.a = k.id AND k.q = t.a) FROM t;
SELECT a, (SELECT count(*) FROM u FULL JOIN k ON u.a = k.id AND k.q = t.a) FROM t;
SELECT a, (SELECT count(x.p) FROM (SELECT * FROM u WHERE u.a = t.a) y LEFT JOIN (SELECT * FROM k WHERE k.q = t.a) x ON y.a = x.id) FROM t;
SELECT a, (SELECT count(*) FROM (SELECT a FROM u WHERE u.a = t.a UNION ALL SELECT id FROM k WHERE id = t.a) x) FROM t;
SELECT a, (SELECT max(n) FROM (SELECT e, count(*) AS n FROM u WHERE u.a >= t.a GROUP BY e) x) FROM t;
SELECT a, (SELECT sum((SELECT max(k.p) FROM k WHERE k.id = u.a AND k.q <= t.a)) FROM u) FROM t;
SELECT a, (WITH x AS (SELECT d FROM u WHERE u.a = t.a) SELECT count(*) FROM x p, x q) FROM t;
SELECT sum((SELECT count(*) FROM u WHERE u.a = t.a)) FROM t;
SELECT (SELECT count(*) FROM u WHERE u.a = t.a) AS n, count(*) FROM t GROUP BY n;
SELECT a, (SELECT max(u.d) FROM u WHERE u.a = t.a) FROM t GROUP BY a;
SELECT a + 1, (SELECT max(u.d) FROM u WHERE u.a = a + 1) FROM t GROUP BY a + 1, a;
SELECT * FROM t JOIN u ON t.a = u.a AND u.d = (SELECT max(d) FROM u v WHERE v.a = t.a);
SELECT * FROM t LEFT JOIN u ON t.a = u.a AND u.d = (SELECT max(d) FROM u v WHERE v.a = u.a);
SELECT coalesce((SELECT max(d) FROM u WHERE u.a = t.a), 0) + (SELECT count(*) FROM k) FROM t;
SELECT x.a, x.n FROM (SELECT a, (SELECT count(*) FROM u WHERE u.a = t.a) AS n FROM t) x WHERE x.n > 0;
SELECT e.src, (SELECT count(*) FROM edges f WHERE f.src = e.dst AND f.dst <> e.src) FROM edges e;
SELECT a FROM t x JOIN k ON x.a = k.id WHERE k.p > (SELECT min(p) FROM k y WHERE y.q = k.q AND y.id <> x.a);

-- # outer
SELECT * FROM t LEFT JOIN u ON t.a IN (SELECT id FROM k WHERE k.q < u.a);
SELECT * FROM t LEFT JOIN u ON t.a = u.a AND NOT EXISTS (SELECT 1 FROM k WHERE k.id = t.a AND k.q < u.d);
SELECT * FROM t FULL JOIN u ON t.a <= u.a AND EXISTS (SELECT 1 FROM k WHERE k.id = t.a AND k.q * 11 < u.d);
SELECT * FROM t FULL JOIN u ON t.a = u.a AND EXISTS (SELECT 1 FROM k WHERE k.id = t.a);

-- # lateral
SELECT t.a, x.n FROM t, LATERAL (SELECT count(*) AS n FROM u WHERE u.a = t.a) x;
SELECT t.a, x.d FROM t LEFT JOIN LATERAL (SELECT d FROM u WHERE u.a = t.a) x ON TRUE;
SELECT t.a, x.d FROM t LEFT JOIN LATERAL (SELECT d FROM u WHERE u.a >= t.a) x ON x.d > t.c * 7;
SELECT k.id, x.d, y.e FROM k CROSS JOIN LATERAL (SELECT d FROM u WHERE u.a = k.id) x, LATERAL (SELECT k.id + x.d AS e) y;
SELECT id, (SELECT sum(x.n) FROM u, LATERAL (SELECT u.d + k.id AS n WHERE u.a = k.id) x) FROM k;
SELECT t.a, x.* FROM t JOIN LATERAL (SELECT 3 AS c FROM u) x ON x.c = t.a;

-- # linear recursion
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT * FROM r;
WITH RECURSIVE r AS (SELECT src FROM edges UNION SELECT e.dst FROM edges e JOIN r ON e.src = r.src) SELECT * FROM r;
WITH RECURSIVE reach(x, y) AS (SELECT src, dst FROM edges UNION SELECT r.x, e.dst FROM reach r, edges e WHERE r.y = e.src) SELECT * FROM reach WHERE x <> y;
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 4) SELECT a.n, b.n FROM r a, r b WHERE a.n < b.n;
WITH RECURSIVE r(n, t) AS (SELECT 1, 'x' UNION ALL SELECT n + 1, t || 'y' FROM r WHERE n < 4) SELECT * FROM r;
WITH RECURSIVE r(n) AS (SELECT 1 UNION SELECT (n * 2) % 7 FROM r), s(m) AS (SELECT n FROM r UNION SELECT m + 10 FROM s WHERE m < 20) SELECT * FROM s;
WITH RECURSIVE r(n) AS (SELECT a FROM t UNION SELECT n + 1 FROM r WHERE n < 5) SELECT count(*) FROM r;
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM (SELECT * FROM r WHERE n < 3) x) SELECT * FROM r;
WITH RECURSIVE r(n, o) AS (SELECT 1, NULL::int UNION SELECT n + 1, n FROM r WHERE n < 3) SELECT * FROM r;
SELECT * FROM (WITH RECURSIVE r(n) AS (SELECT 1 UNION SELECT n + 1 FROM r WHERE n < 3) SELECT n FROM r) x, k WHERE x.n = k.id;
SELECT a FROM t WHERE a IN (WITH RECURSIVE r(n) AS (SELECT 2 UNION SELECT n + 1 FROM r WHERE n < 9) SELECT n FROM r);
WITH RECURSIVE a(n) AS (SELECT 1), b(n) AS (SELECT n + 1 FROM a) SELECT * FROM a, b;
WITH RECURSIVE r(n, k) AS (SELECT 1, 1 UNION SELECT x.m, k + 1 FROM r, (WITH RECURSIVE i(m) AS (SELECT 1 UNION SELECT m + 1 FROM i WHERE m < 3) SELECT m FROM i) x WHERE k < 3) SELECT * FROM r;

-- # filtered recursion
WITH RECURSIVE reach(x, y, n) AS (SELECT src, dst, 1 FROM edges UNION SELECT r.x, e.dst, n + 1 FROM reach r, edges e WHERE r.y = e.src AND n < 5) SELECT * FROM reach WHERE x = 1;
WITH RECURSIVE reach(x, y, n) AS (SELECT src, dst, 1 FROM edges UNION SELECT r.x, e.dst, n + 1 FROM reach r, edges e WHERE r.y = e.src AND n < 5) SELECT * FROM reach WHERE x > 1 AND y <> 3 AND x + 1 < 4;
WITH RECURSIVE reach(x, y, n) AS (SELECT src, dst, 1 FROM edges UNION SELECT r.x, e.dst, n + 1 FROM reach r, edges e WHERE r.y = e.src AND n < 5) SELECT a.y FROM reach a JOIN t ON t.a = a.x WHERE a.x = 2;
WITH RECURSIVE r(x, n) AS (SELECT a, 0 FROM t UNION ALL SELECT x, n + 1 FROM r WHERE n < 2) SELECT * FROM r WHERE x = 1;
WITH RECURSIVE r(x, n) AS (SELECT a, 0 FROM t UNION ALL (SELECT x, n + 1 FROM r LEFT JOIN u ON u.a = r.x WHERE n < 2)) SELECT * FROM r WHERE x > 1 OR x IS NULL;

-- # correlated recursion
SELECT a, (WITH RECURSIVE r(n) AS (SELECT t.a UNION SELECT n + 1 FROM r WHERE n < 5) SELECT count(*) FROM r) FROM t;
SELECT id, (WITH RECURSIVE r(n) AS (SELECT src FROM edges WHERE src = k.id UNION SELECT e.dst FROM r JOIN edges e ON e.src = r.n WHERE e.w <= k.q + 3) SELECT count(*) FROM r) FROM k;
SELECT id FROM k WHERE EXISTS (WITH RECURSIVE r(n) AS (SELECT k.id UNION SELECT n - 2 FROM r WHERE n > 0) SELECT 1 FROM r WHERE n = 0);
SELECT id, (WITH RECURSIVE r(n) AS (SELECT k.id UNION SELECT n + 1 FROM (WITH x AS (SELECT n FROM r WHERE n < 4) SELECT * FROM x) y) SELECT sum(n) FROM r) FROM k;

-- # several at once
SELECT t.b, count(*), max(u.d) FROM t JOIN u ON t.a = u.a JOIN k ON k.id = u.d GROUP BY t.b HAVING count(*) > 1;
SELECT * FROM t LEFT JOIN u ON t.a = u.a AND u.d > 1 FULL JOIN k ON k.q = u.a;
SELECT a FROM t WHERE a IN (SELECT a FROM u WHERE u.d > t.c) AND NOT EXISTS (SELECT 1 FROM k WHERE k.id = t.a);
SELECT e.src FROM edges e, edges f, edges g WHERE e.dst = f.src AND f.dst = g.src AND g.dst = e.src AND e.w = 1;
WITH RECURSIVE r(n) AS (SELECT src FROM edges UNION SELECT e.dst FROM r JOIN edges e ON e.src = r.n) SELECT n, (SELECT max(d) FROM u WHERE u.a = n) AS m FROM r;
SELECT a FROM t EXCEPT SELECT a FROM u UNION ALL SELECT id FROM k INTERSECT ALL SELECT src FROM edges;
SELECT b, rank() OVER (PARTITION BY a ORDER BY c) AS r, sum(c) OVER (ORDER BY a) AS s FROM t;
SELECT DISTINCT ON (a) a, b FROM t ORDER BY a, b DESC;
SELECT a, b, count(DISTINCT c) FROM t GROUP BY ROLLUP (a, b) ORDER BY 3 DESC, 1, 2 LIMIT 5;
SELECT CASE WHEN a > 1 THEN upper(b) ELSE 'x' END AS y FROM t WHERE a BETWEEN 1 AND 3 OR b LIKE 'x%';
