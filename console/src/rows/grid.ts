/** What the virtual table shows: columns, and cells by row and column. A million rows are no objects of their own. */
import type { Json } from '../api/exact';
import type { Column } from '../api/types';
import { compare, isNumeric, textOf } from './text';

/** Just inserted, gone or changed; `plus` and `minus` are the two sides of a difference, which stay. */
export type Flash = 'in' | 'out' | 'changed' | 'plus' | 'minus' | '';

export interface Grid {
  readonly columns: Column[];
  readonly size: number;
  cell(row: number, column: number): Json | undefined;
  /** How a row, or one cell of it, has just changed. */
  flash?(row: number, column: number): Flash;
  /** What is the same row after others have come and gone. */
  key?(row: number): number;
}

export interface Sorting {
  column: number;
  down: boolean;
}

/** A grid in another order, or with fewer rows. */
export class Arranged implements Grid {
  readonly columns: Column[];

  constructor(
    private readonly grid: Grid,
    private readonly order: Uint32Array,
  ) {
    this.columns = grid.columns;
  }

  get size(): number {
    return this.order.length;
  }

  cell(row: number, column: number): Json | undefined {
    return this.grid.cell(this.order[row] ?? 0, column);
  }
}

/** The grid's rows that contain the text, in the order of a column. The grid itself if nothing is asked. */
export function arranged(grid: Grid, needle: string, sorting: Sorting | null): Grid {
  if (!needle && !sorting) return grid;
  let order: Uint32Array = Uint32Array.from({ length: grid.size }, (_, row) => row);
  if (needle) order = order.filter((row) => contains(grid, row, needle.toLowerCase()));
  if (sorting) order = sorted(grid, order, sorting);
  return new Arranged(grid, order);
}

export function contains(grid: Grid, row: number, needle: string): boolean {
  for (let column = 0; column < grid.columns.length; column += 1) {
    if (textOf(grid.cell(row, column)).toLowerCase().includes(needle)) return true;
  }
  return false;
}

function sorted(grid: Grid, order: Uint32Array, { column, down }: Sorting): Uint32Array {
  const numeric = isNumeric(grid.columns[column]?.type ?? '');
  const values = new Array<Json | undefined>(grid.size);
  for (const row of order) values[row] = grid.cell(row, column);
  const sign = down ? -1 : 1;
  return order.sort((a, b) => {
    const [left, right] = [values[a], values[b]];
    const known = Number(left === null) - Number(right === null); // nulls stay at the end
    return known || sign * compare(left, right, numeric) || a - b;
  });
}
