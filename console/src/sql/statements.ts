/** Where the statements of a script are, so that the one at the cursor can be run. */
export interface Span {
  from: number;
  to: number;
}

/** What a semicolon may stand in without ending a statement: quotes, dollar quotes and comments. */
const SKIPPED =
  /'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|`[^`]*(?:`|$)|\$([A-Za-z_]\w*)?\$[\s\S]*?(?:\$\1\$|$)|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|;/g;

/** The statements of a text without the blanks around them; empty ones are left out. */
export function statements(text: string): Span[] {
  const found: Span[] = [];
  let start = 0;
  for (const match of text.matchAll(SKIPPED)) {
    if (match[0] !== ';') continue;
    found.push({ from: start, to: match.index });
    start = match.index + 1;
  }
  found.push({ from: start, to: text.length });
  return found.map((span) => trimmed(text, span)).filter((span) => span.to > span.from);
}

/** The statement at a position: the one around it, or the last one that ends before it. */
export function statementAt(text: string, position: number): Span | null {
  const all = statements(text);
  return all.findLast((span) => span.from <= position) ?? all[0] ?? null;
}

/** The offset of a line and a column, both from 1, within a text. */
export function offsetAt(text: string, line: number, column: number): number {
  let start = 0;
  for (let passed = 1; passed < line; passed += 1) {
    const end = text.indexOf('\n', start);
    if (end < 0) break;
    start = end + 1;
  }
  const points = Array.from(text.slice(start)).slice(0, Math.max(0, column - 1));
  return Math.min(start + points.join('').length, text.length);
}

/** A name as SQL writes it: in double quotes unless it is a plain word. */
export function quoteName(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) && !RESERVED.has(name) ? name : `"${name.replaceAll('"', '""')}"`;
}

/** The same of a name that may be left out. */
export function quoteAny(name: string | null): string | null {
  return name === null ? null : quoteName(name);
}

export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

const RESERVED = new Set(
  (
    'all analyse analyze and any array as asc both case cast check collate column constraint create current_date ' +
    'default desc distinct do else end except false fetch for foreign from grant group having in initially ' +
    'intersect into lateral leading limit not null offset on only or order placing primary references returning ' +
    'select some table then to trailing true union unique user using variadic when where window with'
  ).split(' '),
);

function trimmed(text: string, { from, to }: Span): Span {
  while (from < to && /\s/.test(text[from] ?? '')) from += 1;
  while (to > from && /\s/.test(text[to - 1] ?? '')) to -= 1;
  return { from, to };
}
