/**
 * The tour's five steps: the graph of dependencies, what an advisory reaches in it, the advisory, its retraction,
 * and the epoch before. It runs over the demo's tables if they are there, else over a small graph of its own.
 */
import { writeExact, type Json } from '../api/exact';

export interface Step {
  title: string;
  text: string;
  /** What the step asks: a request, the same as its curl. */
  method: 'GET' | 'POST';
  path: string;
  body?: Json;
  /** Where to look at it in the console. */
  look: string;
}

export interface Names {
  depends: string;
  advisories: string;
  affected: string;
}

const ADVISORY = 'TOUR-1';
const SMALL = [
  ['shop', 'web'], ['shop', 'mail'], ['web', 'tls'], ['mail', 'tls'], ['tls', 'crypto'], ['crypto', 'bignum'],
  ['photos', 'webp'], ['web', 'webp'], ['office', 'fonts'], ['browser', 'web'], ['browser', 'fonts'], ['backup', 'zip'],
];

export function namesIn(tables: string[]): Names {
  const isDemo = ['depends', 'advisories'].every((name) => tables.includes(name));
  const before = isDemo ? '' : 'tour_';
  return { depends: `${before}depends`, advisories: `${before}advisories`, affected: `${before}affected` };
}

/** What makes the small graph. */
export function preparation(names: Names): string {
  const rows = SMALL.map(([from, to]) => `('${from}', '${to}')`).join(', ');
  return (
    `CREATE TABLE ${names.depends} (package TEXT NOT NULL, depends_on TEXT NOT NULL); ` +
    `CREATE TABLE ${names.advisories} (id TEXT PRIMARY KEY, package TEXT NOT NULL, severity TEXT NOT NULL); ` +
    `INSERT INTO ${names.depends} VALUES ${rows}`
  );
}

export function viewSql(names: Names): string {
  return (
    `WITH RECURSIVE reached (advisory, package) AS (SELECT id, package FROM ${names.advisories} UNION ` +
    `SELECT r.advisory, d.package FROM reached AS r JOIN ${names.depends} AS d ON d.depends_on = r.package) ` +
    'SELECT advisory, package FROM reached'
  );
}

/** `hit` is the package that the advisory is for; `epoch` the one at which it was there, if that is known. */
export function steps(names: Names, hit: string, epoch: number | null): Step[] {
  const deltas = `/v1/tables/${names.advisories}/deltas`;
  return [
    {
      title: 'The graph', text: 'A table of who depends on whom. The packages that the most others need come first.',
      method: 'POST', path: '/v1/sql', look: `#/relation/${names.depends}`,
      body: { sql: `SELECT depends_on, count(*) AS needed_by FROM ${names.depends} GROUP BY depends_on ORDER BY needed_by DESC LIMIT 5` },
    },
    {
      title: 'The advisory', text: `An advisory for ${hit} comes in. The view of what it reaches, through any chain of dependencies, is up to date when the call returns.`,
      method: 'POST', path: deltas, look: `#/relation/${names.affected}`, body: [{ insert: { id: ADVISORY, package: hit, severity: 'high' } }],
    },
    {
      title: 'The reach', text: 'What it reaches: a recursive view, which was not computed again but changed by what the advisory adds.',
      method: 'POST', path: '/v1/sql', look: `#/dataflow/${names.affected}`, body: { sql: `SELECT advisory, count(*) AS reached FROM ${names.affected} GROUP BY advisory` },
    },
    {
      title: 'The retraction', text: 'The advisory is withdrawn, and with it everything that followed from it alone.',
      method: 'POST', path: deltas, look: `#/relation/${names.affected}`, body: [{ delete: { id: ADVISORY } }],
    },
    {
      title: 'The epoch before', text: 'Nothing is lost: the view can be read as it was before the retraction. The slider does the same.',
      method: 'GET', path: `/v1/views/${names.affected}/rows?as_of=${epoch ?? 0}&limit=5`, look: `#/relation/${names.affected}`,
    },
  ];
}

export function curlOf(step: Step, origin: string): string {
  const target = `'${origin}${step.path}'`;
  if (step.body === undefined) return `curl -s ${target}`;
  const text = writeExact(step.body).replaceAll("'", "'\\''");
  return `curl -s ${target} -H 'Content-Type: application/json' \\\n  -d '${text}'`;
}
