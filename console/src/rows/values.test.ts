import { describe, expect, it } from 'vitest';
import { date, moment, time } from './arrow';
import { arranged, type Grid } from './grid';
import { compare, csvLine } from './text';

describe('moments of Arrow', () => {
  it('are those of the contract', () => {
    for (const [days, text] of [[0n, '1970-01-01'], [-1n, '1969-12-31'], [19_782n, '2024-02-29'], [-719_162n, '0001-01-01'], [2_932_896n, '9999-12-31']] as const)
      expect(date(days)).toBe(text);
    for (let day = -200_000; day < 200_000; day += 997)
      expect(date(BigInt(day))).toBe(new Date(day * 86_400_000).toISOString().slice(0, 10));
    expect(time(3_723_000_004n)).toBe('01:02:03.000004');
    expect(moment(-500_000n)).toBe('1969-12-31T23:59:59.500000');
    expect(moment(0n)).toBe('1970-01-01T00:00:00');
  });
});

describe('order', () => {
  it('compares numbers exactly, also those that are one as doubles', () => {
    expect(compare(9007199254740993n, 9007199254740992, true)).toBe(1);
    expect(compare('0.10', '0.9', true)).toBe(-1);
    expect(compare('12345678901234567890.12345', '12345678901234567890.12346', true)).toBe(-1);
    expect(compare('NaN', 1, true)).toBe(1);
    expect(compare('Infinity', '-Infinity', true)).toBe(1);
    expect(compare('10', '9', false)).toBe(-1);
  });
  it('keeps nulls at the end, and equal rows in their order', () => {
    const rows = [[null], ['2'], ['1'], ['2'], [null]];
    const grid: Grid = { columns: [{ name: 'a', type: 'NUMERIC(3, 0)' }], size: 5, cell: (row, column) => rows[row]?.[column] };
    const order = (down: boolean): unknown[] => {
      const found = arranged(grid, '', { column: 0, down });
      return Array.from({ length: found.size }, (_, row) => found.cell(row, 0));
    };
    expect(order(false)).toEqual(['1', '2', '2', null, null]);
    expect(order(true)).toEqual(['2', '2', '1', null, null]);
    expect(arranged(grid, '2', null).size).toBe(2);
  });
});

it('CSV tells NULL from an empty text', () => {
  expect(csvLine([null, '', 'a,"b"\n', 1, { a: 'x' }])).toBe(',"","a,""b""\n",1,"{""a"":""x""}"\n');
});
