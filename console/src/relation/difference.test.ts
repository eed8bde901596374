import { expect, it } from 'vitest';
import type { Change } from '../api/types';
import { difference, wholeEpochs } from './difference';

const change = (epoch: number, diff: number, a: number): Change => ({ epoch, diff, row: { a } });

it('a difference is the sum of the changes, row by row', () => {
  const found = difference([{ name: 'a', type: 'BIGINT' }], [change(1, 2, 5), change(2, -2, 5), change(2, 1, 7), change(3, -3, 8)]);
  expect(found).toMatchObject({ added: 1, removed: 3 });
  expect([0, 1].map((row) => [found.grid.cell(row, 0), found.grid.cell(row, 1)])).toEqual([['+1', 7], ['−3', 8]]);
});

it('a reading that breaks off within an epoch is the difference up to the epoch before', () => {
  const changes = [change(4, 1, 1), change(6, 1, 2), change(6, 1, 3)];
  expect(wholeEpochs(changes, true, 3, 9)).toEqual({ changes: [changes[0]], until: 5 });
  expect(wholeEpochs(changes.slice(1), true, 3, 9)).toEqual({ changes: [], until: 3 });
  expect(wholeEpochs(changes, false, 3, 9)).toEqual({ changes, until: 9 });
});
