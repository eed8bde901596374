import { describe, expect, it } from 'vitest';
import { layout } from './layout';
import { offsetAt, quoteName, statementAt, statements } from './statements';

const SCRIPT = `SELECT ';' AS a; -- not; here
/* nor; here */ SELECT "x;y" FROM t;
SELECT $tag$ a; $$ b; $tag$, $$;$$;;  `;

describe('statements', () => {
  it('end at semicolons that stand in no text, name or comment', () => {
    expect(statements(SCRIPT).map(({ from, to }) => SCRIPT.slice(from, to))).toEqual([
      "SELECT ';' AS a", '-- not; here\n/* nor; here */ SELECT "x;y" FROM t', 'SELECT $tag$ a; $$ b; $tag$, $$;$$',
    ]);
    expect(statements("SELECT 'open; ")).toHaveLength(1);
    expect(statements(' ;; ')).toEqual([]);
  });
  it('at a position is the one around it or before it', () => {
    const text = 'SELECT 1;\n\nSELECT 2;\n';
    const at = (position: number): string => {
      const span = statementAt(text, position);
      return span ? text.slice(span.from, span.to) : '';
    };
    expect([at(0), at(9), at(10), at(11), at(text.length)]).toEqual(['SELECT 1', 'SELECT 1', 'SELECT 1', 'SELECT 2', 'SELECT 2']);
    expect(statementAt('  ', 1)).toBeNull();
  });
  it('have places in lines and columns of characters, not of UTF-16', () => {
    const text = "SELECT\n 'é😀', custmer";
    expect(text.slice(offsetAt(text, 2, 8))).toBe('custmer');
    expect(offsetAt(text, 1, 1)).toBe(0);
    expect(offsetAt(text, 9, 9)).toBeLessThanOrEqual(text.length);
  });
  it('write names as SQL does', () => {
    expect([quoteName('a_1'), quoteName('Order'), quoteName('order'), quoteName('a"b')]).toEqual(['a_1', '"Order"', '"order"', '"a""b"']);
  });
});

describe('layout', () => {
  const sql = "SELECT a, count(*) FILTER (WHERE b > 1) AS n FROM (SELECT DISTINCT a, b FROM t LEFT OUTER JOIN u USING (a)) AS s WHERE c = 'from  x' GROUP BY a ORDER BY n";
  it('puts clauses and joins on lines of their own', () => {
    expect(layout(sql).split('\n')).toEqual([
      'SELECT a, count(*) FILTER (WHERE b > 1) AS n', 'FROM (', '  SELECT DISTINCT a, b', '  FROM t', '  LEFT OUTER JOIN u USING (a)', ') AS s',
      "WHERE c = 'from  x'", 'GROUP BY a', 'ORDER BY n',
    ]);
  });
  it('changes blanks between words alone', () => {
    const words = (text: string): string => text.replace(/\s+/g, '');
    for (const text of [sql, 'WITH RECURSIVE r (a) AS (SELECT 1 UNION SELECT a + 1 FROM r) SELECT * FROM r', 'SELECT extract(year FROM d), trim(both FROM x)', "SELECT $$ (a $$ || E'\\'", ')('])
      expect(words(layout(text))).toBe(words(text));
    expect(layout('SELECT 1 -- FROM\nFROM t')).toBe('SELECT 1 -- FROM\nFROM t');
  });
});
