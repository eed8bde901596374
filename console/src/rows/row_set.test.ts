import { describe, expect, it } from 'vitest';
import type { Json } from '../api/exact';
import type { Change } from '../api/types';
import { leading, RowSet } from './row_set';

const COLUMNS = [{ name: 'k', type: 'TEXT' }, { name: 'v', type: 'BIGINT' }];

function random(seed: number): () => number {
  return () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
}

function bag(rows: Json[][]): string[] {
  return rows.map((row) => JSON.stringify(row)).sort();
}

function shown(set: RowSet): string[] {
  return bag(set.entries.flatMap((entry) => Array.from({ length: entry.count }, () => entry.values)));
}

describe('a set of rows', () => {
  it('is the sum of its changes, whatever comes and goes and however flashes end', () => {
    for (let seed = 1; seed < 40; seed += 1) {
      const next = random(seed);
      const pick = (): Json[] => [`k${Math.floor(next() * 5)}`, Math.floor(next() * 3)];
      let rows = Array.from({ length: 6 }, pick);
      const set = new RowSet(COLUMNS, seed % 2 ? [0] : []);
      set.fill(rows);
      for (let epoch = 1; epoch < 30; epoch += 1) {
        const changes: Change[] = [];
        for (let at = 0; at < 4; at += 1) {
          if (next() < 0.5 && rows.length) {
            const [k, v] = rows.splice(Math.floor(next() * rows.length), 1)[0] ?? [];
            changes.push({ epoch, diff: -1, row: { k: k ?? null, v: v ?? null } });
          } else {
            const [k, v] = pick();
            rows = [...rows, [k ?? null, v ?? null]];
            changes.push({ epoch, diff: 1, row: { k: k ?? null, v: v ?? null } });
          }
        }
        set.apply(changes, epoch * 300);
        expect(shown(set)).toEqual(bag(rows));
        if (next() < 0.3) set.sweep(epoch * 300);
        if (next() < 0.2) {
          rows = Array.from({ length: 5 }, pick);
          set.become(rows, epoch * 300);
          expect(shown(set)).toEqual(bag(rows));
        }
      }
      set.sweep(1e9);
      expect(set.entries.every((entry) => entry.count > 0 && entry.flash === '')).toBe(true);
      expect(shown(set)).toEqual(bag(rows));
    }
  });

  it('keeps the place of a row whose identity stays, and says which columns have changed', () => {
    const set = new RowSet(COLUMNS, []);
    set.fill([['a', 1], ['b', 1], ['c', 1]]);
    set.apply([{ epoch: 1, diff: 1, row: { k: 'b', v: 7 } }, { epoch: 1, diff: -1, row: { k: 'b', v: 1 } }], 10);
    expect(set.entries.map((entry) => entry.values)).toEqual([['a', 1], ['b', 7], ['c', 1]]);
    expect(set.entries[1]).toMatchObject({ flash: 'changed', changed: [1] });
    expect([set.inserted, set.deleted]).toEqual([1, 1]);
  });

  it('counts changes of rows that lie beyond those that were read', () => {
    const set = new RowSet(COLUMNS, [0]);
    set.fill([['a', 1]]);
    set.apply([{ epoch: 1, diff: -3, row: { k: 'z', v: 1 } }], 10);
    expect(set.deleted).toBe(3);
    expect(shown(set)).toEqual(bag([['a', 1]]));
  });

  it('is a part of the relation beyond its size: what it shows is exact, and it does not grow', () => {
    const keyed = new RowSet(COLUMNS, [0], 3);
    keyed.fill([['a', 1], ['b', 1]]);
    keyed.apply(['c', 'd', 'e'].map((k) => ({ epoch: 1, diff: 1, row: { k, v: 1 } })), 10);
    expect([shown(keyed).length, keyed.isPartial, keyed.inserted]).toEqual([3, true, 3]);
    keyed.apply([{ epoch: 2, diff: -1, row: { k: 'e', v: 1 } }, { epoch: 2, diff: -1, row: { k: 'a', v: 1 } }, { epoch: 2, diff: 1, row: { k: 'a', v: 2 } }], 20);
    expect(shown(keyed)).toContain('["a",2]');
    const bagged = new RowSet(COLUMNS, [], 100);
    bagged.fill([['a', 1], ['a', 1], ['b', 1], ['b', 1]], true); // there may be a third b
    bagged.apply([{ epoch: 1, diff: 1, row: { k: 'a', v: 1 } }, { epoch: 1, diff: 1, row: { k: 'z', v: 1 } }], 10);
    expect(shown(bagged)).toEqual(bag([['a', 1], ['a', 1], ['a', 1]]));
  });

  it('takes the least leading columns that tell rows apart as their identity', () => {
    expect(leading([['a', 1, 1], ['b', 1, 1]], 3)).toEqual([0]);
    expect(leading([['a', 1, 1], ['a', 2, 1]], 3)).toEqual([0, 1]);
    expect(leading([['a', 1, 1], ['a', 1, 1]], 3)).toEqual([0, 1, 2]);
    expect(leading([], 2)).toEqual([0, 1]);
  });
});
