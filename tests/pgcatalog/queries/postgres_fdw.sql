-- Tool: postgres_fdw of PostgreSQL 15.18
-- From: what a server logs at IMPORT FOREIGN SCHEMA

SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = 'public';

SELECT relname,   attname,   format_type(atttypid, atttypmod),   attnotnull,   pg_get_expr(adbin, adrelid),   attgenerated,   collname,   collnsp.nspname FROM pg_class c   JOIN pg_namespace n ON     relnamespace = n.oid   LEFT JOIN pg_attribute a ON     attrelid = c.oid AND attnum > 0       AND NOT attisdropped   LEFT JOIN pg_attrdef ad ON     adrelid = c.oid AND adnum = attnum   LEFT JOIN pg_collation coll ON     coll.oid = attcollation   LEFT JOIN pg_namespace collnsp ON     collnsp.oid = collnamespace WHERE c.relkind IN ('r','v','f','m','p')   AND n.nspname = 'public' AND c.relname IN ('customers', 'lines') ORDER BY c.relname, a.attnum;
