-- One row a binary package; size is the installed size in KiB.
CREATE TABLE packages (
  name TEXT PRIMARY KEY,
  version TEXT NOT NULL,
  section TEXT NOT NULL,
  size BIGINT NOT NULL,
  source TEXT NOT NULL
);

-- One row a mention in Depends or Pre-Depends; alt is the place among alternatives (a | b | c), from 0.
-- There is no key: a package that names another twice has two equal rows.
CREATE TABLE depends (
  package TEXT NOT NULL,
  depends_on TEXT NOT NULL,
  kind TEXT NOT NULL,
  alt SMALLINT NOT NULL
);

-- One row a security advisory.
CREATE TABLE advisories (
  id TEXT PRIMARY KEY,
  package TEXT NOT NULL,
  severity TEXT NOT NULL
);
