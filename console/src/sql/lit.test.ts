import { expect, it } from 'vitest';
import type { PlanNode } from '../api/types';
import { layout } from './layout';
import { piecesOf } from './lit';

const node = (id: string, ...spans: [number, number][]): PlanNode => ({
  id, operator: id, details: [], inputs: [], depth: 0, columns: [],
  spans: spans.map(([start, end]) => ({ start, end, line: 1, column: start + 1 })),
});
const at = (sql: string, text: string): [number, number] => {
  const start = Array.from(sql.slice(0, sql.indexOf(text))).length;
  return [start, start + Array.from(text).length];
};

it('pieces are lit where their operators come from, whatever the layout and the script', () => {
  const sql = "SELECT '😀é' AS t, count(*) FROM e WHERE a > 2 AND b < 5 GROUP BY t";
  const nodes = [node('filter', at(sql, 'a > 2'), at(sql, 'b < 5')), node('reduce', at(sql, 'count(*)')), node('source', at(sql, 'e W').map((it, n) => (n ? it - 2 : it)) as [number, number])];
  const shown = layout(sql);
  const pieces = piecesOf(sql, shown, nodes);
  expect(pieces.map((piece) => piece.text).join('')).toBe(shown);
  expect(pieces.filter((piece) => piece.nodes.length).map((piece) => [piece.text, piece.nodes])).toEqual([
    ['count(*)', ['reduce']], ['e', ['source']], ['a > 2', ['filter']], ['b < 5', ['filter']],
  ]);
});

it('of parts inside each other, the shortest comes first', () => {
  const sql = 'SELECT a FROM (SELECT b FROM c) q';
  const pieces = piecesOf(sql, sql, [node('outer', [14, 31]), node('inner', at(sql, 'c'))]);
  expect(pieces.find((piece) => piece.text === 'c')?.nodes).toEqual(['inner', 'outer']);
  expect(piecesOf(sql, sql, []).map((piece) => piece.text)).toEqual([sql]);
});
