# constants
SELECT t.a FROM t JOIN (SELECT 2 AS edge) AS c ON t.a < c.edge

before
    r0 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r1 := values

    r2 := project r1 → (edge INTEGER NOT NULL)
        edge := 2
    r3 := inner join r0, r2 → (a INTEGER, b TEXT, c DOUBLE PRECISION, edge INTEGER NOT NULL)
        r0.a < r2.edge
    r4 := project r3 → (a INTEGER)
        a := r0.a
    r5 := output r4 → (a INTEGER)
        a := r4.a
    return r5

after
    r0 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r1 := project r0 → (a INTEGER, b TEXT, c DOUBLE PRECISION, edge INTEGER NOT NULL)
        a := r0.a
        b := r0.b
        c := r0.c
        edge := 2
    r2 := filter r1 → (a INTEGER, b TEXT, c DOUBLE PRECISION, edge INTEGER NOT NULL)
        r0.a < r1.edge
    r3 := project r2 → (a INTEGER)
        a := r0.a
    r4 := output r3 → (a INTEGER)
        a := r3.a
    return r4

# constants: a subquery
SELECT a FROM t WHERE a = (SELECT 2)

before
    r0 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r1 := values

    r2 := project r1 → (2 INTEGER NOT NULL)
        2 := 2
    r3 := filter r0 → (a INTEGER, b TEXT, c DOUBLE PRECISION)
        r0.a = (VALUE r2)
    r4 := project r3 → (a INTEGER)
        a := r0.a
    r5 := output r4 → (a INTEGER)
        a := r4.a
    return r5

after
    r0 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r1 := filter r0 → (a INTEGER, b TEXT, c DOUBLE PRECISION)
        r0.a = 2
    r2 := project r1 → (a INTEGER)
        a := r0.a
    r3 := output r2 → (a INTEGER)
        a := r2.a
    return r3

# decorrelation: a semijoin
SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a)

before
    r0 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r1 := scan u → (a INTEGER, d BIGINT, e BOOLEAN)
    r2 := filter r1 → (a INTEGER, d BIGINT, e BOOLEAN)
        r1.a = r0.a
    r3 := project r2 → (1 INTEGER NOT NULL)
        1 := 1
    r4 := filter r0 → (a INTEGER, b TEXT, c DOUBLE PRECISION)
        EXISTS r3
    r5 := project r4 → (a INTEGER)
        a := r0.a
    r6 := output r5 → (a INTEGER)
        a := r5.a
    return r6

after
    r0 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r1 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r2 := context r1 → (a INTEGER)
        a := r1.a
    r3 := scan u → (a INTEGER, d BIGINT, e BOOLEAN)
    r4 := inner join r2, r3 → (a INTEGER, a INTEGER, d BIGINT, e BOOLEAN)
    r5 := filter r4 → (a INTEGER, a INTEGER, d BIGINT, e BOOLEAN)
        r3.a = r2.a
    r6 := project r5 → (a INTEGER, 1 INTEGER NOT NULL)
        a := r2.a
        1 := 1
    r7 := semi join r0, r6 → (a INTEGER, b TEXT, c DOUBLE PRECISION)
        r0.a IS NOT DISTINCT FROM r2.a
    r8 := project r7 → (a INTEGER)
        a := r0.a
    r9 := output r8 → (a INTEGER)
        a := r8.a
    return r9

# decorrelation: a value
SELECT a, (SELECT max(d) FROM u WHERE u.a = t.a) AS m FROM t

before
    r0 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r1 := scan u → (a INTEGER, d BIGINT, e BOOLEAN)
    r2 := filter r1 → (a INTEGER, d BIGINT, e BOOLEAN)
        r1.a = r0.a
    r3 := aggregate r2 → (max BIGINT)
        max := max(r1.d)
    r4 := project r3 → (max(d) BIGINT)
        max(d) := r3.max
    r5 := project r0 → (a INTEGER, m BIGINT)
        a := r0.a
        m := VALUE r4
    r6 := output r5 → (a INTEGER, m BIGINT)
        a := r5.a
        m := r5.m
    return r6

after
    r0 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r1 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r2 := context r1 → (a INTEGER)
        a := r1.a
    r3 := scan u → (a INTEGER, d BIGINT, e BOOLEAN)
    r4 := inner join r2, r3 → (a INTEGER, a INTEGER, d BIGINT, e BOOLEAN)
    r5 := filter r4 → (a INTEGER, a INTEGER, d BIGINT, e BOOLEAN)
        r3.a = r2.a
    r6 := aggregate r5 → (a INTEGER, max BIGINT)
        by r2.a
        max := max(r3.d)
    r7 := left join r0, r6 → (a INTEGER, b TEXT, c DOUBLE PRECISION, a INTEGER, max BIGINT)
        r0.a IS NOT DISTINCT FROM r2.a
    r8 := project r7 → (a INTEGER, m BIGINT)
        a := r0.a
        m := r6.max
    r9 := output r8 → (a INTEGER, m BIGINT)
        a := r8.a
        m := r8.m
    return r9

# decorrelation: a lateral join
SELECT t.b, x.d FROM t CROSS JOIN LATERAL (SELECT d FROM u WHERE u.a = t.a) AS x

before
    r0 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r1 := scan u → (a INTEGER, d BIGINT, e BOOLEAN)
    r2 := filter r1 → (a INTEGER, d BIGINT, e BOOLEAN)
        r1.a = r0.a
    r3 := project r2 → (d BIGINT)
        d := r1.d
    r4 := inner join r0, r3 → (a INTEGER, b TEXT, c DOUBLE PRECISION, d BIGINT)
    r5 := project r4 → (b TEXT, d BIGINT)
        b := r0.b
        d := r3.d
    r6 := output r5 → (b TEXT, d BIGINT)
        b := r5.b
        d := r5.d
    return r6

after
    r0 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r1 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r2 := context r1 → (a INTEGER)
        a := r1.a
    r3 := scan u → (a INTEGER, d BIGINT, e BOOLEAN)
    r4 := inner join r2, r3 → (a INTEGER, a INTEGER, d BIGINT, e BOOLEAN)
    r5 := filter r4 → (a INTEGER, a INTEGER, d BIGINT, e BOOLEAN)
        r3.a = r2.a
    r6 := project r5 → (a INTEGER, d BIGINT)
        a := r2.a
        d := r3.d
    r7 := inner join r0, r6 → (a INTEGER, b TEXT, c DOUBLE PRECISION, a INTEGER, d BIGINT)
        r0.a IS NOT DISTINCT FROM r2.a
    r8 := project r7 → (a INTEGER, b TEXT, c DOUBLE PRECISION, d BIGINT)
        a := r0.a
        b := r0.b
        c := r0.c
        d := r6.d
    r9 := project r8 → (b TEXT, d BIGINT)
        b := r0.b
        d := r6.d
    r10 := output r9 → (b TEXT, d BIGINT)
        b := r9.b
        d := r9.d
    return r10

# definitions: used once
WITH r AS (SELECT a, count(*) AS n FROM t GROUP BY a) SELECT n FROM r

before
    r0 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r1 := aggregate r0 → (a INTEGER, count BIGINT NOT NULL)
        by r0.a
        count := count(*)
    r2 := project r1 → (a INTEGER, n BIGINT NOT NULL)
        a := r0.a
        n := r1.count
    r3 := reuse r2 → (a INTEGER, n BIGINT NOT NULL)
        a := r2.a
        n := r2.n
    r4 := project r3 → (n BIGINT NOT NULL)
        n := r3.n
    r5 := output r4 → (n BIGINT NOT NULL)
        n := r4.n
    return r5

after
    r0 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r1 := aggregate r0 → (a INTEGER, count BIGINT NOT NULL)
        by r0.a
        count := count(*)
    r2 := project r1 → (a INTEGER, n BIGINT NOT NULL)
        a := r0.a
        n := r1.count
    r3 := project r2 → (a INTEGER, n BIGINT NOT NULL)
        a := r2.a
        n := r2.n
    r4 := project r3 → (n BIGINT NOT NULL)
        n := r3.n
    r5 := output r4 → (n BIGINT NOT NULL)
        n := r4.n
    return r5

# definitions: little work
WITH r AS (SELECT a FROM t WHERE a > 1) SELECT x.a FROM r AS x JOIN r AS y ON x.a = y.a

before
    r0 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r1 := filter r0 → (a INTEGER, b TEXT, c DOUBLE PRECISION)
        r0.a > 1
    r2 := project r1 → (a INTEGER)
        a := r0.a
    r3 := reuse r2 → (a INTEGER)
        a := r2.a
    r4 := reuse r2 → (a INTEGER)
        a := r2.a
    r5 := inner join r3, r4 → (a INTEGER, a INTEGER)
        r3.a = r4.a
    r6 := project r5 → (a INTEGER)
        a := r3.a
    r7 := output r6 → (a INTEGER)
        a := r6.a
    return r7

after
    r0 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r1 := filter r0 → (a INTEGER, b TEXT, c DOUBLE PRECISION)
        r0.a > 1
    r2 := project r1 → (a INTEGER)
        a := r0.a
    r3 := project r2 → (a INTEGER)
        a := r2.a
    r4 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r5 := filter r4 → (a INTEGER, b TEXT, c DOUBLE PRECISION)
        r4.a > 1
    r6 := project r5 → (a INTEGER)
        a := r4.a
    r7 := project r6 → (a INTEGER)
        a := r6.a
    r8 := inner join r3, r7 → (a INTEGER, a INTEGER)
        r3.a = r7.a
    r9 := project r8 → (a INTEGER)
        a := r3.a
    r10 := output r9 → (a INTEGER)
        a := r9.a
    return r10

# simplification: expressions
SELECT a FROM t WHERE 5 < a AND CAST('2020-01-01' AS DATE) IS NOT NULL

before
    r0 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r1 := filter r0 → (a INTEGER, b TEXT, c DOUBLE PRECISION)
        5 < r0.a
        CAST('2020-01-01' AS DATE) IS NOT NULL
    r2 := project r1 → (a INTEGER)
        a := r0.a
    r3 := output r2 → (a INTEGER)
        a := r2.a
    return r3

after
    r0 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r1 := filter r0 → (a INTEGER, b TEXT, c DOUBLE PRECISION)
        r0.a > 5
    r2 := project r1 → (a INTEGER)
        a := r0.a
    r3 := output r2 → (a INTEGER)
        a := r2.a
    return r3

# simplification: dates
SELECT id FROM days WHERE CAST(day AS TIMESTAMP) < TIMESTAMP '2020-01-01'

before
    r0 := scan days → (id INTEGER, day DATE, at TIMESTAMP, note TEXT)
    r1 := filter r0 → (id INTEGER, day DATE, at TIMESTAMP, note TEXT)
        CAST(r0.day AS TIMESTAMP) < CAST('2020-01-01' AS TIMESTAMP)
    r2 := project r1 → (id INTEGER)
        id := r0.id
    r3 := output r2 → (id INTEGER)
        id := r2.id
    return r3

after
    r0 := scan days → (id INTEGER, day DATE, at TIMESTAMP, note TEXT)
    r1 := filter r0 → (id INTEGER, day DATE, at TIMESTAMP, note TEXT)
        r0.day < DATE '2020-01-01'
    r2 := project r1 → (id INTEGER)
        id := r0.id
    r3 := output r2 → (id INTEGER)
        id := r2.id
    return r3

# simplification: a common condition
SELECT t.a FROM t JOIN u ON (t.a = u.a AND d > 1) OR (t.a = u.a AND e)

before
    r0 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r1 := scan u → (a INTEGER, d BIGINT, e BOOLEAN)
    r2 := inner join r0, r1 → (a INTEGER, b TEXT, c DOUBLE PRECISION, a INTEGER, d BIGINT, e BOOLEAN)
        r0.a = r1.a AND r1.d > 1 OR r0.a = r1.a AND r1.e
    r3 := project r2 → (a INTEGER)
        a := r0.a
    r4 := output r3 → (a INTEGER)
        a := r3.a
    return r4

after
    r0 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r1 := scan u → (a INTEGER, d BIGINT, e BOOLEAN)
    r2 := inner join r0, r1 → (a INTEGER, b TEXT, c DOUBLE PRECISION, a INTEGER, d BIGINT, e BOOLEAN)
        r0.a = r1.a
        r1.d > 1 OR r1.e
    r3 := project r2 → (a INTEGER)
        a := r0.a
    r4 := output r3 → (a INTEGER)
        a := r3.a
    return r4

# simplification: many constants
SELECT a FROM t WHERE a = 1 OR a = 2 OR a = 3

before
    r0 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r1 := filter r0 → (a INTEGER, b TEXT, c DOUBLE PRECISION)
        r0.a = 1 OR r0.a = 2 OR r0.a = 3
    r2 := project r1 → (a INTEGER)
        a := r0.a
    r3 := output r2 → (a INTEGER)
        a := r2.a
    return r3

after
    r0 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r1 := filter r0 → (a INTEGER, b TEXT, c DOUBLE PRECISION)
        r0.a IN (1, 2, 3)
    r2 := project r1 → (a INTEGER)
        a := r0.a
    r3 := output r2 → (a INTEGER)
        a := r2.a
    return r3

# simplification: no rows
SELECT t.b FROM t LEFT JOIN u ON t.a = u.a AND u.d = 1 AND u.d = 2

before
    r0 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r1 := scan u → (a INTEGER, d BIGINT, e BOOLEAN)
    r2 := left join r0, r1 → (a INTEGER, b TEXT, c DOUBLE PRECISION, a INTEGER, d BIGINT, e BOOLEAN)
        r0.a = r1.a
        r1.d = 1
        r1.d = 2
    r3 := project r2 → (b TEXT)
        b := r0.b
    r4 := output r3 → (b TEXT)
        b := r3.b
    return r4

after
    r0 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r1 := project r0 → (a INTEGER, b TEXT, c DOUBLE PRECISION, a INTEGER, d BIGINT, e BOOLEAN)
        a := r0.a
        b := r0.b
        c := r0.c
        a := NULL::INTEGER
        d := NULL::BIGINT
        e := NULL::BOOLEAN
    r2 := project r1 → (b TEXT)
        b := r0.b
    r3 := output r2 → (b TEXT)
        b := r2.b
    return r3

# simplification: an empty branch
SELECT a FROM t UNION ALL SELECT a FROM u WHERE FALSE

before
    r0 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r1 := project r0 → (a INTEGER)
        a := r0.a
    r2 := scan u → (a INTEGER, d BIGINT, e BOOLEAN)
    r3 := filter r2 → (a INTEGER, d BIGINT, e BOOLEAN)
        FALSE
    r4 := project r3 → (a INTEGER)
        a := r2.a
    r5 := union all r1, r4 → (a INTEGER)
        a := r1.a, r4.a
    r6 := output r5 → (a INTEGER)
        a := r5.a
    return r6

after
    r0 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r1 := project r0 → (a INTEGER)
        a := r0.a
    r2 := project r1 → (a INTEGER)
        a := r1.a
    r3 := output r2 → (a INTEGER)
        a := r2.a
    return r3

# simplification: distinct
SELECT DISTINCT id, p FROM k

before
    r0 := scan k → (id INTEGER NOT NULL, p NUMERIC(10, 2), q SMALLINT NOT NULL)
    r1 := project r0 → (id INTEGER NOT NULL, p NUMERIC(10, 2))
        id := r0.id
        p := r0.p
    r2 := distinct r1 → (id INTEGER NOT NULL, p NUMERIC(10, 2))
    r3 := output r2 → (id INTEGER NOT NULL, p NUMERIC(10, 2))
        id := r1.id
        p := r1.p
    return r3

after
    r0 := scan k → (id INTEGER NOT NULL, p NUMERIC(10, 2), q SMALLINT NOT NULL)
    r1 := project r0 → (id INTEGER NOT NULL, p NUMERIC(10, 2))
        id := r0.id
        p := r0.p
    r2 := output r1 → (id INTEGER NOT NULL, p NUMERIC(10, 2))
        id := r1.id
        p := r1.p
    return r2

# filters: into a group
SELECT * FROM (SELECT a, count(*) AS n FROM t GROUP BY a) AS x WHERE a = 1 AND n > 1

before
    r0 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r1 := aggregate r0 → (a INTEGER, count BIGINT NOT NULL)
        by r0.a
        count := count(*)
    r2 := project r1 → (a INTEGER, n BIGINT NOT NULL)
        a := r0.a
        n := r1.count
    r3 := filter r2 → (a INTEGER, n BIGINT NOT NULL)
        r2.a = 1
        r2.n > 1
    r4 := project r3 → (a INTEGER, n BIGINT NOT NULL)
        a := r2.a
        n := r2.n
    r5 := output r4 → (a INTEGER, n BIGINT NOT NULL)
        a := r4.a
        n := r4.n
    return r5

after
    r0 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r1 := filter r0 → (a INTEGER, b TEXT, c DOUBLE PRECISION)
        r0.a = 1
    r2 := aggregate r1 → (a INTEGER, count BIGINT NOT NULL)
        by r0.a
        count := count(*)
    r3 := filter r2 → (a INTEGER, count BIGINT NOT NULL)
        r2.count > 1
    r4 := project r3 → (a INTEGER, n BIGINT NOT NULL)
        a := r0.a
        n := r2.count
    r5 := project r4 → (a INTEGER, n BIGINT NOT NULL)
        a := r4.a
        n := r4.n
    r6 := output r5 → (a INTEGER, n BIGINT NOT NULL)
        a := r5.a
        n := r5.n
    return r6

# filters: equal columns
SELECT t.b FROM t, u, k WHERE t.a = u.a AND u.a = k.id AND k.id > 1

before
    r0 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r1 := scan u → (a INTEGER, d BIGINT, e BOOLEAN)
    r2 := inner join r0, r1 → (a INTEGER, b TEXT, c DOUBLE PRECISION, a INTEGER, d BIGINT, e BOOLEAN)
    r3 := scan k → (id INTEGER NOT NULL, p NUMERIC(10, 2), q SMALLINT NOT NULL)
    r4 := inner join r2, r3 → (a INTEGER, b TEXT, c DOUBLE PRECISION, a INTEGER, d BIGINT, e BOOLEAN, id INTEGER NOT NULL, p NUMERIC(10, 2), q SMALLINT NOT NULL)
    r5 := filter r4 → (a INTEGER, b TEXT, c DOUBLE PRECISION, a INTEGER, d BIGINT, e BOOLEAN, id INTEGER NOT NULL, p NUMERIC(10, 2), q SMALLINT NOT NULL)
        r0.a = r1.a
        r1.a = r3.id
        r3.id > 1
    r6 := project r5 → (b TEXT)
        b := r0.b
    r7 := output r6 → (b TEXT)
        b := r6.b
    return r7

after
    r0 := scan k → (id INTEGER NOT NULL, p NUMERIC(10, 2), q SMALLINT NOT NULL)
    r1 := filter r0 → (id INTEGER NOT NULL, p NUMERIC(10, 2), q SMALLINT NOT NULL)
        r0.id > 1
    r2 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r3 := filter r2 → (a INTEGER, b TEXT, c DOUBLE PRECISION)
        r2.a > 1
    r4 := inner join r1, r3 → (id INTEGER NOT NULL, p NUMERIC(10, 2), q SMALLINT NOT NULL, a INTEGER, b TEXT, c DOUBLE PRECISION)
        r0.id = r2.a
    r5 := scan u → (a INTEGER, d BIGINT, e BOOLEAN)
    r6 := filter r5 → (a INTEGER, d BIGINT, e BOOLEAN)
        r5.a > 1
    r7 := inner join r4, r6 → (id INTEGER NOT NULL, p NUMERIC(10, 2), q SMALLINT NOT NULL, a INTEGER, b TEXT, c DOUBLE PRECISION, a INTEGER, d BIGINT, e BOOLEAN)
        r0.id = r5.a
    r8 := project r7 → (b TEXT)
        b := r2.b
    r9 := output r8 → (b TEXT)
        b := r8.b
    return r9

# filters: an unnecessary context
SELECT a, (SELECT max(d) FROM u WHERE u.a = t.a) AS m FROM t

before
    r0 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r1 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r2 := context r1 → (a INTEGER)
        a := r1.a
    r3 := scan u → (a INTEGER, d BIGINT, e BOOLEAN)
    r4 := inner join r2, r3 → (a INTEGER, a INTEGER, d BIGINT, e BOOLEAN)
    r5 := filter r4 → (a INTEGER, a INTEGER, d BIGINT, e BOOLEAN)
        r3.a = r2.a
    r6 := aggregate r5 → (a INTEGER, max BIGINT)
        by r2.a
        max := max(r3.d)
    r7 := left join r0, r6 → (a INTEGER, b TEXT, c DOUBLE PRECISION, a INTEGER, max BIGINT)
        r0.a IS NOT DISTINCT FROM r2.a
    r8 := project r7 → (a INTEGER, m BIGINT)
        a := r0.a
        m := r6.max
    r9 := output r8 → (a INTEGER, m BIGINT)
        a := r8.a
        m := r8.m
    return r9

after
    r0 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r1 := scan u → (a INTEGER, d BIGINT, e BOOLEAN)
    r2 := filter r1 → (a INTEGER, d BIGINT, e BOOLEAN)
        r1.a IS NOT NULL
    r3 := project r2 → (a INTEGER, d BIGINT, e BOOLEAN, a INTEGER)
        a := r1.a
        d := r1.d
        e := r1.e
        a := r1.a
    r4 := aggregate r3 → (a INTEGER, max BIGINT)
        by r3.a
        max := max(r1.d)
    r5 := left join r0, r4 → (a INTEGER, b TEXT, c DOUBLE PRECISION, a INTEGER, max BIGINT)
        r0.a IS NOT DISTINCT FROM r3.a
    r6 := project r5 → (a INTEGER, m BIGINT)
        a := r0.a
        m := r4.max
    r7 := output r6 → (a INTEGER, m BIGINT)
        a := r6.a
        m := r6.m
    return r7

# filters: one side of alternatives
SELECT t.a FROM t, u WHERE (t.b = 'x' AND u.d = 10) OR (t.b = 'y' AND u.d = 20)

before
    r0 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r1 := scan u → (a INTEGER, d BIGINT, e BOOLEAN)
    r2 := inner join r0, r1 → (a INTEGER, b TEXT, c DOUBLE PRECISION, a INTEGER, d BIGINT, e BOOLEAN)
    r3 := filter r2 → (a INTEGER, b TEXT, c DOUBLE PRECISION, a INTEGER, d BIGINT, e BOOLEAN)
        r0.b = 'x' AND r1.d = 10 OR r0.b = 'y' AND r1.d = 20
    r4 := project r3 → (a INTEGER)
        a := r0.a
    r5 := output r4 → (a INTEGER)
        a := r4.a
    return r5

after
    r0 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r1 := filter r0 → (a INTEGER, b TEXT, c DOUBLE PRECISION)
        r0.b = 'x' OR r0.b = 'y'
    r2 := scan u → (a INTEGER, d BIGINT, e BOOLEAN)
    r3 := filter r2 → (a INTEGER, d BIGINT, e BOOLEAN)
        r2.d = 10 OR r2.d = 20
    r4 := inner join r1, r3 → (a INTEGER, b TEXT, c DOUBLE PRECISION, a INTEGER, d BIGINT, e BOOLEAN)
        r0.b = 'x' AND r2.d = 10 OR r0.b = 'y' AND r2.d = 20
    r5 := project r4 → (a INTEGER)
        a := r0.a
    r6 := output r5 → (a INTEGER)
        a := r5.a
    return r6

# outer joins
SELECT * FROM t LEFT JOIN u ON t.a = u.a WHERE u.d > 1

before
    r0 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r1 := scan u → (a INTEGER, d BIGINT, e BOOLEAN)
    r2 := left join r0, r1 → (a INTEGER, b TEXT, c DOUBLE PRECISION, a INTEGER, d BIGINT, e BOOLEAN)
        r0.a = r1.a
    r3 := filter r2 → (a INTEGER, b TEXT, c DOUBLE PRECISION, a INTEGER, d BIGINT, e BOOLEAN)
        r1.d > 1
    r4 := project r3 → (a INTEGER, b TEXT, c DOUBLE PRECISION, a INTEGER, d BIGINT, e BOOLEAN)
        a := r0.a
        b := r0.b
        c := r0.c
        a#2 := r1.a
        d := r1.d
        e := r1.e
    r5 := output r4 → (a INTEGER, b TEXT, c DOUBLE PRECISION, a INTEGER, d BIGINT, e BOOLEAN)
        a := r4.a
        b := r4.b
        c := r4.c
        a := r4.a#2
        d := r4.d
        e := r4.e
    return r5

after
    r0 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r1 := scan u → (a INTEGER, d BIGINT, e BOOLEAN)
    r2 := inner join r0, r1 → (a INTEGER, b TEXT, c DOUBLE PRECISION, a INTEGER, d BIGINT, e BOOLEAN)
        r0.a = r1.a
    r3 := filter r2 → (a INTEGER, b TEXT, c DOUBLE PRECISION, a INTEGER, d BIGINT, e BOOLEAN)
        r1.d > 1
    r4 := project r3 → (a INTEGER, b TEXT, c DOUBLE PRECISION, a INTEGER, d BIGINT, e BOOLEAN)
        a := r0.a
        b := r0.b
        c := r0.c
        a#2 := r1.a
        d := r1.d
        e := r1.e
    r5 := output r4 → (a INTEGER, b TEXT, c DOUBLE PRECISION, a INTEGER, d BIGINT, e BOOLEAN)
        a := r4.a
        b := r4.b
        c := r4.c
        a := r4.a#2
        d := r4.d
        e := r4.e
    return r5

# semijoins
SELECT u.d, k.p FROM u JOIN k ON k.q = u.a WHERE k.id IN (SELECT a FROM t)

before
    r0 := scan k → (id INTEGER NOT NULL, p NUMERIC(10, 2), q SMALLINT NOT NULL)
    r1 := scan u → (a INTEGER, d BIGINT, e BOOLEAN)
    r2 := inner join r0, r1 → (id INTEGER NOT NULL, p NUMERIC(10, 2), q SMALLINT NOT NULL, a INTEGER, d BIGINT, e BOOLEAN)
        CAST(r0.q AS INTEGER) = r1.a
    r3 := project r2 → (a INTEGER, d BIGINT, e BOOLEAN, id INTEGER NOT NULL, p NUMERIC(10, 2), q SMALLINT NOT NULL)
        a := r1.a
        d := r1.d
        e := r1.e
        id := r0.id
        p := r0.p
        q := r0.q
    r4 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r5 := filter r4 → (a INTEGER, b TEXT, c DOUBLE PRECISION)
        r4.a IS NOT NULL
    r6 := project r5 → (a INTEGER)
        a := r4.a
    r7 := project r6 → (a INTEGER, id INTEGER NOT NULL)
        a := r6.a
        id := r6.a
    r8 := semi join r3, r7 → (a INTEGER, d BIGINT, e BOOLEAN, id INTEGER NOT NULL, p NUMERIC(10, 2), q SMALLINT NOT NULL)
        r0.id = r7.id
    r9 := project r8 → (d BIGINT, p NUMERIC(10, 2))
        d := r1.d
        p := r0.p
    r10 := output r9 → (d BIGINT, p NUMERIC(10, 2))
        d := r9.d
        p := r9.p
    return r10

after
    r0 := scan k → (id INTEGER NOT NULL, p NUMERIC(10, 2), q SMALLINT NOT NULL)
    r1 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r2 := filter r1 → (a INTEGER, b TEXT, c DOUBLE PRECISION)
        r1.a IS NOT NULL
    r3 := project r2 → (a INTEGER)
        a := r1.a
    r4 := project r3 → (a INTEGER, id INTEGER NOT NULL)
        a := r3.a
        id := r3.a
    r5 := semi join r0, r4 → (id INTEGER NOT NULL, p NUMERIC(10, 2), q SMALLINT NOT NULL)
        r0.id = r4.id
    r6 := scan u → (a INTEGER, d BIGINT, e BOOLEAN)
    r7 := inner join r5, r6 → (id INTEGER NOT NULL, p NUMERIC(10, 2), q SMALLINT NOT NULL, a INTEGER, d BIGINT, e BOOLEAN)
        CAST(r0.q AS INTEGER) = r6.a
    r8 := project r7 → (a INTEGER, d BIGINT, e BOOLEAN, id INTEGER NOT NULL, p NUMERIC(10, 2), q SMALLINT NOT NULL)
        a := r6.a
        d := r6.d
        e := r6.e
        id := r0.id
        p := r0.p
        q := r0.q
    r9 := project r8 → (d BIGINT, p NUMERIC(10, 2))
        d := r6.d
        p := r0.p
    r10 := output r9 → (d BIGINT, p NUMERIC(10, 2))
        d := r9.d
        p := r9.p
    return r10

# filters into recursions
WITH RECURSIVE r(x, y) AS (SELECT src, dst FROM edges UNION SELECT r.x, e.dst FROM r JOIN edges e ON e.src = r.y) SELECT y FROM r WHERE x = 1

before
    r0 := scan edges → (src INTEGER NOT NULL, dst INTEGER NOT NULL, w INTEGER NOT NULL)
    r1 := project r0 → (src INTEGER NOT NULL, dst INTEGER NOT NULL)
        src := r0.src
        dst := r0.dst
    r2 := round before of r → (x INTEGER NOT NULL, y INTEGER NOT NULL)
    r3 := scan edges → (src INTEGER NOT NULL, dst INTEGER NOT NULL, w INTEGER NOT NULL)
    r4 := inner join r2, r3 → (x INTEGER NOT NULL, y INTEGER NOT NULL, src INTEGER NOT NULL, dst INTEGER NOT NULL, w INTEGER NOT NULL)
        r2.y = r3.src
    r5 := project r4 → (x INTEGER NOT NULL, dst INTEGER NOT NULL)
        x := r2.x
        dst := r3.dst
    r6 := union all r1, r5 → (src INTEGER NOT NULL, dst INTEGER NOT NULL)
        src := r1.src, r5.x
        dst := r1.dst, r5.dst
    r7 := distinct r6 → (src INTEGER NOT NULL, dst INTEGER NOT NULL)
    r8 := fixpoint r r7 → (x INTEGER NOT NULL, y INTEGER NOT NULL)
        r := r7 (r6.src, r6.dst)
    r9 := filter r8 → (x INTEGER NOT NULL, y INTEGER NOT NULL)
        r8.x = 1
    r10 := project r9 → (x INTEGER NOT NULL, y INTEGER NOT NULL)
        x := r8.x
        y := r8.y
    r11 := project r10 → (y INTEGER NOT NULL)
        y := r10.y
    r12 := output r11 → (y INTEGER NOT NULL)
        y := r11.y
    return r12

after
    r0 := scan edges → (src INTEGER NOT NULL, dst INTEGER NOT NULL, w INTEGER NOT NULL)
    r1 := project r0 → (src INTEGER NOT NULL, dst INTEGER NOT NULL)
        src := r0.src
        dst := r0.dst
    r2 := filter r1 → (src INTEGER NOT NULL, dst INTEGER NOT NULL)
        r1.src = 1
    r3 := round before of r → (x INTEGER NOT NULL, y INTEGER NOT NULL)
    r4 := scan edges → (src INTEGER NOT NULL, dst INTEGER NOT NULL, w INTEGER NOT NULL)
    r5 := inner join r3, r4 → (x INTEGER NOT NULL, y INTEGER NOT NULL, src INTEGER NOT NULL, dst INTEGER NOT NULL, w INTEGER NOT NULL)
        r3.y = r4.src
    r6 := project r5 → (x INTEGER NOT NULL, dst INTEGER NOT NULL)
        x := r3.x
        dst := r4.dst
    r7 := union all r2, r6 → (src INTEGER NOT NULL, dst INTEGER NOT NULL)
        src := r1.src, r6.x
        dst := r1.dst, r6.dst
    r8 := distinct r7 → (src INTEGER NOT NULL, dst INTEGER NOT NULL)
    r9 := fixpoint r r8 → (x INTEGER NOT NULL, y INTEGER NOT NULL)
        r := r8 (r7.src, r7.dst)
    r10 := project r9 → (x INTEGER NOT NULL, y INTEGER NOT NULL)
        x := r9.x
        y := r9.y
    r11 := project r10 → (y INTEGER NOT NULL)
        y := r10.y
    r12 := output r11 → (y INTEGER NOT NULL)
        y := r11.y
    return r12

# columns
SELECT n FROM (SELECT b, count(*) AS n, max(c) AS m FROM t GROUP BY b) AS x

before
    r0 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r1 := aggregate r0 → (b TEXT, count BIGINT NOT NULL, max DOUBLE PRECISION)
        by r0.b
        count := count(*)
        max := max(r0.c)
    r2 := project r1 → (b TEXT, n BIGINT NOT NULL, m DOUBLE PRECISION)
        b := r0.b
        n := r1.count
        m := r1.max
    r3 := project r2 → (n BIGINT NOT NULL)
        n := r2.n
    r4 := output r3 → (n BIGINT NOT NULL)
        n := r3.n
    return r4

after
    r0 := scan t → (b TEXT)
    r1 := aggregate r0 → (b TEXT, count BIGINT NOT NULL)
        by r0.b
        count := count(*)
    r2 := project r1 → (n BIGINT NOT NULL)
        n := r1.count
    r3 := project r2 → (n BIGINT NOT NULL)
        n := r2.n
    r4 := output r3 → (n BIGINT NOT NULL)
        n := r3.n
    return r4

# columns: an unnecessary join
SELECT t.b FROM t LEFT JOIN k ON k.id = t.a

before
    r0 := scan t → (a INTEGER, b TEXT, c DOUBLE PRECISION)
    r1 := scan k → (id INTEGER NOT NULL, p NUMERIC(10, 2), q SMALLINT NOT NULL)
    r2 := left join r0, r1 → (a INTEGER, b TEXT, c DOUBLE PRECISION, id INTEGER, p NUMERIC(10, 2), q SMALLINT)
        r1.id = r0.a
    r3 := project r2 → (b TEXT)
        b := r0.b
    r4 := output r3 → (b TEXT)
        b := r3.b
    return r4

after
    r0 := scan t → (b TEXT)
    r1 := project r0 → (b TEXT)
        b := r0.b
    r2 := output r1 → (b TEXT)
        b := r1.b
    return r2

# first places
SELECT a FROM (SELECT a, row_number() OVER (PARTITION BY b ORDER BY a) AS n FROM t) AS x WHERE n <= 2

before
    r0 := scan t → (a INTEGER, b TEXT)
    r1 := window r0 → (a INTEGER, b TEXT, row_number BIGINT NOT NULL)
        by r0.b
        order r0.a
        row_number := row_number() over range between unbounded preceding and current row
    r2 := filter r1 → (a INTEGER, b TEXT, row_number BIGINT NOT NULL)
        r1.row_number <= 2
    r3 := project r2 → (a INTEGER)
        a := r0.a
    r4 := project r3 → (a INTEGER)
        a := r3.a
    r5 := output r4 → (a INTEGER)
        a := r4.a
    return r5

after
    r0 := scan t → (a INTEGER, b TEXT)
    r1 := top r0 → (a INTEGER, b TEXT)
        by r0.b
        order r0.a, r0.b
        places 1 to 2
    r2 := window r1 → (a INTEGER, b TEXT, row_number BIGINT NOT NULL)
        by r0.b
        order r0.a
        row_number := row_number() over range between unbounded preceding and current row
    r3 := project r2 → (a INTEGER)
        a := r0.a
    r4 := project r3 → (a INTEGER)
        a := r3.a
    r5 := output r4 → (a INTEGER)
        a := r4.a
    return r5

# projections
SELECT y + 1 AS z FROM (SELECT a + 1 AS y FROM t) AS x

before
    r0 := scan t → (a INTEGER)
    r1 := project r0 → (y INTEGER)
        y := r0.a + 1
    r2 := project r1 → (z INTEGER)
        z := r1.y + 1
    r3 := output r2 → (z INTEGER)
        z := r2.z
    return r3

after
    r0 := scan t → (a INTEGER)
    r1 := project r0 → (z INTEGER)
        z := r0.a + 1 + 1
    r2 := output r1 → (z INTEGER)
        z := r1.z
    return r2

# moments
SELECT id FROM days WHERE at > now() - INTERVAL '1 hour'

before
    r0 := scan days → (id INTEGER, at TIMESTAMP)
    r1 := filter r0 → (id INTEGER, at TIMESTAMP)
        r0.at > (now() - INTERVAL '1' HOUR)
    r2 := project r1 → (id INTEGER)
        id := r0.id
    r3 := output r2 → (id INTEGER)
        id := r2.id
    return r3

after
    r0 := scan days → (id INTEGER, at TIMESTAMP)
    r1 := filter r0 → (id INTEGER, at TIMESTAMP)
        NOT now() >= (r0.at + INTERVAL '1' HOUR)
    r2 := project r1 → (id INTEGER)
        id := r0.id
    r3 := output r2 → (id INTEGER)
        id := r2.id
    return r3
