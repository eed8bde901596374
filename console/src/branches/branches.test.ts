import { expect, it } from 'vitest';
import type { Branch } from '../api/types';
import { isOf } from '../state/timeline.svelte';
import { asOfGiven, choiceTold, others, ownEpochs } from './branches';

const branch = (name: string, more: Partial<Branch> = {}): Branch => ({
  name, of: 'main', parted: 4, begins: 2_000_000_000_000, epoch: 2_000_000_000_003, bytes: 10, created: '2026-01-01T00:00:00Z', merged: [], live: false,
  follows: null, waits: null, lost: null, ...more,
});

it('an epoch is read as it is shown, and a time is left as it is', () => {
  expect(asOfGiven('')).toBeNull();
  expect(asOfGiven('  ')).toBeNull();
  expect(asOfGiven(' 1,000,000,000,002 ')).toBe(1_000_000_000_002);
  expect(asOfGiven('2026-01-01T00:00:00Z')).toBe('2026-01-01T00:00:00Z');
  expect(asOfGiven('-1')).toBe('-1');
});

it('a branch is compared with main and the others that are there', () => {
  const all = [branch('a'), branch('b', { lost: 'its log is gone', epoch: null }), branch('c')];
  expect(others(branch('a'), all)).toEqual(['main', 'c']);
  expect([all[0], all[1]].map((one) => one && ownEpochs(one))).toEqual([3, 0]);
  expect(choiceTold('ours', branch('a', { of: 'c' }))).toBe('keep the rows of c');
  expect(choiceTold('theirs', branch('a'))).toBe('take the rows of a');
});

it('an epoch tells its timeline', () => {
  expect(isOf(7, 0)).toBe(true);
  expect(isOf(1_000_000_000_000, 0)).toBe(false);
  expect(isOf(1_000_000_000_009, 1_000_000_000_000)).toBe(true);
  expect(isOf(7, 1_000_000_000_000)).toBe(false);
  expect(isOf(8_001_010_000_000, 8_001_000_000_000)).toBe(true);
  expect(isOf(8_001_010_000_000_0, 8_001_000_000_000)).toBe(false);
  expect(isOf(8_011_000_000_000, 8_001_000_000_000)).toBe(false);
});
