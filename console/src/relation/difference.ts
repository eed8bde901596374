/** Differences: rows that were added and removed. Between two epochs, they are the changes in between. */
import { writeExact, type Json } from '../api/exact';
import type { Change, Column, RowDifference } from '../api/types';
import type { Flash, Grid } from '../rows/grid';
import { valuesOf } from './reading';

export interface Difference {
  grid: Grid;
  added: number;
  removed: number;
}

/** The changes of whole epochs, where the reading broke off within the last one, and the epoch that they lead to. */
export function wholeEpochs(changes: Change[], cutOff: boolean, since: number, until: number): { changes: Change[]; until: number } {
  const last = changes.at(-1)?.epoch;
  if (!cutOff || last === undefined) return { changes, until };
  const whole = changes.filter((change) => change.epoch < last);
  return { changes: whole, until: whole.length ? last - 1 : since };
}

/** Changes, summed row by row. */
export function difference(columns: Column[], changes: RowDifference[]): Difference {
  const net = new Map<string, { values: Json[]; diff: number }>();
  for (const { row, diff } of changes) {
    const values = valuesOf(columns, row);
    const text = writeExact(values);
    const found = net.get(text);
    if (found) found.diff += diff;
    else net.set(text, { values, diff });
  }
  const left = [...net].filter(([, { diff }]) => diff !== 0).sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
  const sum = (sign: number): number => left.reduce((total, { diff }) => total + Math.max(0, sign * diff), 0);
  return { grid: gridOf(columns, left), added: sum(1), removed: sum(-1) };
}

function gridOf(columns: Column[], rows: { values: Json[]; diff: number }[]): Grid {
  return {
    columns: [{ name: 'diff', type: 'BIGINT' }, ...columns],
    size: rows.length,
    cell: (row, column) => (column === 0 ? signed(rows[row]?.diff ?? 0) : rows[row]?.values[column - 1]),
    flash: (row, column): Flash => (column >= 0 ? '' : (rows[row]?.diff ?? 0) > 0 ? 'plus' : 'minus'),
  };
}

function signed(diff: number): string {
  return diff > 0 ? `+${diff}` : `−${-diff}`;
}
