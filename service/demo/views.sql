-- The packages that an advisory reaches through any chain of dependencies, alternatives included.
CREATE VIEW affected AS
WITH RECURSIVE reached (advisory, package) AS (
  SELECT id, package FROM advisories
  UNION
  SELECT r.advisory, d.package
  FROM reached AS r
  JOIN depends AS d ON d.depends_on = r.package
)
SELECT advisory, package FROM reached;

-- What each section would have to reinstall: a sum over a join over the recursion above.
CREATE VIEW reinstall AS
SELECT p.section, count(*) AS packages, sum(p.size) AS kib
FROM (SELECT DISTINCT package FROM affected) AS a
JOIN packages AS p ON p.name = a.package
GROUP BY p.section;

-- Who names whom, once.
CREATE VIEW edges AS
SELECT DISTINCT package, depends_on FROM depends;

-- The fewest dependencies between a package and a package with an advisory.
CREATE VIEW distance AS
WITH MUTUALLY RECURSIVE
  near (package TEXT, hops INTEGER) AS (
    SELECT package, min(hops)
    FROM (
      SELECT package, 0 AS hops FROM advisories
      UNION ALL
      SELECT e.package, n.hops + 1 FROM near AS n JOIN edges AS e ON e.depends_on = n.package
    ) AS step
    GROUP BY package
  )
SELECT package, hops FROM near;

-- The edges that may lie on a cycle: something leads to their start, and their end leads somewhere. Taking the
-- others away makes more of them loose, so the recursion is over what is taken away, which only grows.
CREATE VIEW entangled AS
WITH MUTUALLY RECURSIVE
  loose (package TEXT, depends_on TEXT) AS (
    WITH kept AS (
      SELECT package, depends_on FROM edges
      EXCEPT
      SELECT package, depends_on FROM loose
    )
    SELECT package, depends_on FROM edges
    EXCEPT
    SELECT package, depends_on
    FROM edges
    WHERE package IN (SELECT depends_on FROM kept) AND depends_on IN (SELECT package FROM kept)
  )
SELECT package, depends_on FROM edges
EXCEPT
SELECT package, depends_on FROM loose;

-- The edges inside a strongly connected component, by recursions inside a recursion. Every package takes the
-- least name that leads to it (above); an edge whose ends take different ones joins two components. Of the level
-- edges that are left, the same again against their direction (below). An edge inside a component is always
-- tight. What is not is cut, and the marks begin anew without it, until nothing more is cut.
CREATE VIEW knots AS
WITH MUTUALLY RECURSIVE
  cut (package TEXT, depends_on TEXT) AS (
    WITH kept AS (
      SELECT package, depends_on FROM entangled
      EXCEPT
      SELECT package, depends_on FROM cut
    ),
    above AS (
      WITH MUTUALLY RECURSIVE
        mark (name TEXT, label TEXT) AS (
          SELECT name, min(label)
          FROM (
            SELECT package AS name, package AS label FROM kept
            UNION ALL
            SELECT depends_on, depends_on FROM kept
            UNION ALL
            SELECT k.depends_on, m.label FROM mark AS m JOIN kept AS k ON k.package = m.name
          ) AS step
          GROUP BY name
        )
      SELECT name, label FROM mark
    ),
    level AS (
      SELECT k.package, k.depends_on
      FROM kept AS k
      JOIN above AS a ON a.name = k.package
      JOIN above AS b ON b.name = k.depends_on AND b.label = a.label
    ),
    below AS (
      WITH MUTUALLY RECURSIVE
        mark (name TEXT, label TEXT) AS (
          SELECT name, min(label)
          FROM (
            SELECT package AS name, package AS label FROM level
            UNION ALL
            SELECT depends_on, depends_on FROM level
            UNION ALL
            SELECT k.package, m.label FROM mark AS m JOIN level AS k ON k.depends_on = m.name
          ) AS step
          GROUP BY name
        )
      SELECT name, label FROM mark
    ),
    tight AS (
      SELECT k.package, k.depends_on
      FROM level AS k
      JOIN below AS a ON a.name = k.package
      JOIN below AS b ON b.name = k.depends_on AND b.label = a.label
    )
    SELECT package, depends_on FROM entangled
    EXCEPT
    SELECT package, depends_on FROM tight
  )
SELECT package, depends_on FROM entangled
EXCEPT
SELECT package, depends_on FROM cut;

-- The packages on dependency cycles, with the least name of their component.
CREATE VIEW cycles AS
WITH MUTUALLY RECURSIVE
  mark (package TEXT, component TEXT) AS (
    SELECT package, min(component)
    FROM (
      SELECT package, package AS component FROM knots
      UNION ALL
      SELECT k.package, m.component FROM mark AS m JOIN knots AS k ON k.depends_on = m.package
    ) AS step
    GROUP BY package
  )
SELECT package, component FROM mark;
