import { expect, it } from 'vitest';
import type { ViewEstimate } from '../api/types';
import { freeName, partsRead, worstChange } from './estimates';

const change = (table: string, bad: number) => ({ table, median_rows: 1, bad_rows: 2, median_milliseconds: 0.1, bad_milliseconds: bad });
const found: ViewEstimate = {
  at_least: false, rows: 1, memory_bytes: 2, disk_bytes: 2, build_seconds: 0.1, shared_with: [], dear: [], over_budget: [],
  changes: [change('a', 1), change('b', 7), change('c', 2)],
  read: [{ table: 'a', part: 1 }, { table: 'b', part: 0.04567 }, { table: 'c', part: 0.5 }],
};

it('the worst change comes first, and what was not read whole is told', () => {
  expect(worstChange(found)?.table).toBe('b');
  expect(worstChange({ ...found, changes: [] })).toBeUndefined();
  expect(partsRead(found)).toBe('estimated from 4.6 % of b, 50 % of c');
  expect(partsRead({ ...found, read: [] })).toBe('');
});

it('a name is free', () => {
  expect(freeName([])).toBe('estimate');
  expect(freeName(['estimate_', 'estimate'])).toBe('estimate__');
});
