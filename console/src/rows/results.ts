/** The rows of a query: the first ones came as JSON, all others as Arrow. */
import type { RecordBatch, Vector } from 'apache-arrow';
import { call, query, send } from '../api/call';
import type { Json } from '../api/exact';
import type { Column, Result } from '../api/types';
import type { Grid } from './grid';

export const FIRST = 500;
export const MOST = 1_000_000;

export class ResultGrid implements Grid {
  readonly columns: Column[];
  private readonly first: Json[][];
  private rest: Vector[] = [];
  private added = 0;
  private read: ((vector: Vector, row: number) => Json)[] = [];

  constructor(result: Result) {
    this.columns = result.columns ?? [];
    this.first = result.rows ?? [];
  }

  get size(): number {
    return this.first.length + this.added;
  }

  cell(row: number, column: number): Json | undefined {
    if (row < this.first.length) return this.first[row]?.[column];
    const vector = this.rest[column];
    return vector && this.read[column]?.(vector, row - this.first.length);
  }

  append(rows: Json[][]): void {
    for (const row of rows) this.first.push(row);
  }

  take(vectors: Vector[], size: number, readers: ((vector: Vector, row: number) => Json)[]): void {
    this.rest = vectors;
    this.read = readers;
    this.added = size;
  }
}

/** Whether there are rows beyond the last one that the grid has. */
export interface Completed {
  cutOff: boolean;
}

/** Reads what follows the first rows. `progress` is told how many rows there are so far. */
export async function complete(
  grid: ResultGrid,
  cursor: string,
  progress: (rows: number) => void,
  signal: AbortSignal,
): Promise<Completed> {
  const arrow = await import('./arrow');
  const readers = grid.columns.map((column) => arrow.readerOf(column.type));
  if (readers.some((reader) => reader === null)) return completeAsJson(grid, cursor, progress, signal);
  const wanted = MOST - grid.size;
  const body = { cursor, limit: wanted + 1 };
  const response = await send(`/v1/sql${query({ format: 'arrow' })}`, { body, accept: '*/*', signal });
  const all: RecordBatch[] = [];
  let size = 0;
  for await (const batch of arrow.batches(response)) {
    all.push(batch);
    size += batch.numRows;
    progress(FIRST + Math.min(size, wanted));
  }
  const table = arrow.tableOf(all);
  const vectors = grid.columns.map((_, place) => table.getChildAt(place)).filter((vector) => vector !== null);
  grid.take(vectors, Math.min(size, wanted), readers.filter((reader) => reader !== null));
  return { cutOff: size > wanted };
}

const PAGE = 20_000;
const MOST_AS_JSON = 100_000;

async function completeAsJson(
  grid: ResultGrid,
  cursor: string,
  progress: (rows: number) => void,
  signal: AbortSignal,
): Promise<Completed> {
  let next: string | undefined = cursor;
  while (next !== undefined && grid.size < MOST_AS_JSON) {
    const body = { cursor: next, limit: Math.min(PAGE, MOST_AS_JSON - grid.size) };
    const page: { results: Result[] } = await call('/v1/sql', { body, signal });
    grid.append(page.results[0]?.rows ?? []);
    next = page.results[0]?.next;
    progress(grid.size);
  }
  return { cutOff: next !== undefined };
}
