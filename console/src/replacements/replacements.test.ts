import { expect, it } from 'vitest';
import type { Replacement } from '../api/types';
import { columnsOf, concerning, nameFor } from './replacements';

const made = (name: string, ...views: string[]): Replacement => ({
  name, state: 'ready', reason: null, created: '2026-01-01T00:00:00Z', views: views.map((view) => ({ name: view, sql: null, changes: true, bytes: null })),
});

it('a view has the replacements that concern it, also those that reach it through another', () => {
  const all = [made('a', 'v', 'w'), made('b', 'u')];
  expect(concerning('w', all)).toEqual([[all[0]], [all[1]]]);
  expect(concerning('none', all)).toEqual([[], all]);
});

it('the columns are those that the view would have', () => {
  const known = [{ name: 'a', type: 'BIGINT' }, { name: 'gone', type: 'TEXT' }];
  expect(columnsOf([{ diff: 1, row: { b: 1, a: 2 } }], known)).toEqual([{ name: 'b', type: '' }, { name: 'a', type: 'BIGINT' }]);
  expect(columnsOf([], known)).toEqual([]);
});

it('a name is plain and free', () => {
  expect(nameFor('regions', [])).toBe('regions_new');
  expect(nameFor('regions', [made('regions_new'), made('regions_new_2')])).toBe('regions_new_3');
  expect(nameFor('1 Odd "Name"', [])).toBe('_1_odd_name__new');
});
