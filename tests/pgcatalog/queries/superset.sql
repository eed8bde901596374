-- Tool: Superset 6, beside what SQLAlchemy sends for it
-- From: apache/superset, superset/db_engine_specs/postgres.py; SQLAlchemy 1.4, lib/sqlalchemy/dialects/postgresql/base.py

SELECT datname FROM pg_database
WHERE datistemplate = false AND datname = current_database();

SELECT pg_catalog.version();

SELECT current_schema();

SELECT nspname FROM pg_namespace WHERE nspname NOT LIKE 'pg_%' ORDER BY nspname;

SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'public' AND c.relkind in ('r', 'p') ORDER BY 1;

SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'public' AND c.relkind IN ('v', 'm');

SELECT a.attname,
  pg_catalog.format_type(a.atttypid, a.atttypmod),
  (SELECT pg_catalog.pg_get_expr(d.adbin, d.adrelid)
    FROM pg_catalog.pg_attrdef d
   WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum
   AND a.atthasdef)
  AS DEFAULT,
  a.attnotnull,
  a.attrelid as table_oid,
  pgd.description as comment,
  a.attgenerated as generated,
  (SELECT json_build_object(
      'always', a.attidentity = 'a',
      'start', s.seqstart,
      'increment', s.seqincrement,
      'minvalue', s.seqmin,
      'maxvalue', s.seqmax,
      'cache', s.seqcache,
      'cycle', s.seqcycle)
  FROM pg_catalog.pg_sequence s
  JOIN pg_catalog.pg_class c on s.seqrelid = c."oid"
  WHERE c.relkind = 'S'
  AND a.attidentity != ''
  AND s.seqrelid = pg_catalog.pg_get_serial_sequence(
      a.attrelid::regclass::text, a.attname
  )::regclass::oid
  ) as identity_options
FROM pg_catalog.pg_attribute a
LEFT JOIN pg_catalog.pg_description pgd ON (
  pgd.objoid = a.attrelid AND pgd.objsubid = a.attnum)
WHERE a.attrelid = {orders}
AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum;

SELECT
    i.relname as relname,
    ix.indisunique, ix.indexprs,
    a.attname, a.attnum, c.conrelid, ix.indkey::varchar,
    ix.indoption::varchar, i.reloptions, am.amname,
    pg_get_expr(ix.indpred, ix.indrelid),
    ix.indnkeyatts as indnkeyatts
FROM
    pg_class t
          join pg_index ix on t.oid = ix.indrelid
          join pg_class i on i.oid = ix.indexrelid
          left outer join
              pg_attribute a
              on t.oid = a.attrelid and a.attnum = ANY(ix.indkey)
          left outer join
              pg_constraint c
              on (ix.indrelid = c.conrelid and
                  ix.indexrelid = c.conindid and
                  c.contype in ('p', 'u', 'x'))
          left outer join
              pg_am am
              on i.relam = am.oid
WHERE
    t.relkind IN ('r', 'v', 'f', 'm', 'p')
    and t.oid = {customers}
    and ix.indisprimary = 'f'
ORDER BY
    t.relname,
    i.relname;

SELECT r.conname,
    pg_catalog.pg_get_constraintdef(r.oid, true) as condef,
    n.nspname as conschema
FROM  pg_catalog.pg_constraint r,
    pg_namespace n,
    pg_class c
WHERE r.conrelid = {orders} AND
    r.contype = 'f' AND
    c.oid = confrelid AND
    n.oid = c.relnamespace
ORDER BY 1;

SELECT
    pgd.description as table_comment
FROM
    pg_catalog.pg_description pgd
WHERE
    pgd.objsubid = 0 AND
    pgd.objoid = {customers};
