"""Values in the formats of PostgreSQL's protocol: texts and binaries, of single values and of columns."""
