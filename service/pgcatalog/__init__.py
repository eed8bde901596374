"""PostgreSQL's catalogs, pg_catalog and information_schema, with rows made from the definitions of a service.

A `CatalogDescription` says what there is, as one principal sees it. Each module makes the rows of a group of
relations from it, and `SystemTables` gives them to queries. What PostgreSQL itself has in its catalogs
(types, operators, casts) is in `builtin`.
"""
