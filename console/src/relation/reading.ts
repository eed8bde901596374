/** How the page reads a relation: its rows at an epoch, and the changes between two. */
import { call, path, query, send } from '../api/call';
import { parseExact, type Json } from '../api/exact';
import { lines } from '../api/lines';
import { Problem } from '../api/problem';
import type { Change, Column, Constraint, Result, Row } from '../api/types';
import { quoteAny, quoteName } from '../sql/statements';

export interface Relation {
  kind: 'table' | 'view';
  /** The branch on which it is read and changed; null for main. */
  branch: string | null;
  name: string;
  columns: Column[];
  key: string[];
  constraints: Constraint[];
  comment: string;
  sql: string;
  dialect: string;
  state: string;
  reason: string;
  share: number | null;
  notices: string[];
}

/** Rows that the page holds of one relation. */
export const MOST_ROWS = 20_000;

export interface Rows {
  epoch: number;
  rows: Json[][];
  cutOff: boolean;
}

export function place(relation: Relation, ...rest: string[]): string {
  return path('v1', `${relation.kind}s`, quoteName(relation.name), ...rest);
}

/** Where a part of a relation, or with an empty one the relation itself, is asked for or changed on its branch. */
export function address(relation: Relation, part: string, parameters: Record<string, string | number | null> = {}): string {
  return `${part ? place(relation, part) : place(relation)}${query({ ...parameters, branch: quoteAny(relation.branch) })}`;
}

/** Values as the row that has them. */
export function rowOf(relation: Relation, values: Json[]): Row {
  return Object.fromEntries(relation.columns.map((column, place) => [column.name, values[place] ?? null]));
}

/** A row's values, in the order of the columns. */
export function valuesOf(columns: Column[], row: Row): Json[] {
  return columns.map((column) => row[column.name] ?? null);
}

/** The places of the columns that tell a row from all others. */
export function identityOf(relation: Relation): number[] {
  const places = relation.columns.map((_, place) => place);
  return relation.key.length ? places.filter((place) => relation.key.includes(relation.columns[place]?.name ?? '')) : places;
}

export async function readRows(relation: Relation, asOf: number | null, where: string, signal: AbortSignal): Promise<Rows> {
  const skip = relation.state === 'errors' ? 'skip' : null;
  const parameters = { format: 'ndjson', limit: MOST_ROWS + 1, as_of: asOf, where, errors: skip };
  const response = await send(address(relation, 'rows', parameters), { signal, accept: '*/*' });
  const rows: Json[][] = [];
  for await (const line of lines(response)) {
    if (!line) continue;
    rows.push(valuesOf(relation.columns, parseExact(line) as Row));
  }
  const cutOff = rows.length > MOST_ROWS;
  return { epoch: Number(response.headers.get('Freshet-Epoch')), rows: rows.slice(0, MOST_ROWS), cutOff };
}

/** How many rows there are at an epoch, copies counted. */
export async function countRows(relation: Relation, epoch: number, signal: AbortSignal): Promise<number> {
  const sql = `SELECT count(*) FROM ${quoteName(relation.name)} VERSION AS OF ${epoch}`;
  const { results } = await call<{ results: Result[] }>('/v1/sql', { body: { sql, branch: quoteAny(relation.branch) }, signal });
  return Number(results[0]?.rows?.[0]?.[0] ?? 0);
}

/** The changes after `since` up to `until`, the first `most` of them; whether there are more. */
export async function readChanges(
  relation: Relation,
  since: number,
  until: number,
  most: number,
  signal: AbortSignal,
): Promise<{ changes: Change[]; cutOff: boolean }> {
  const skip = relation.state === 'errors' ? 'skip' : null;
  const parameters = { since, until, limit: most + 1, format: 'ndjson', errors: skip };
  const response = await send(address(relation, 'changes', parameters), { signal, accept: '*/*' });
  const changes: Change[] = [];
  for await (const line of lines(response)) if (line) changes.push(parseExact(line) as unknown as Change);
  return { changes: changes.slice(0, most), cutOff: changes.length > most };
}

/** The oldest epoch at which the relation can be read: history may have been let go, and a rebuilt view has none. */
export async function oldestEpoch(relation: Relation, newest: number, signal: AbortSignal): Promise<number> {
  const told = await begins(relation, 0, signal);
  if (told === 0) return 0;
  if (told !== null && (await begins(relation, told, signal)) === told) return told;
  let [low, kept] = [1, newest];
  while (low < kept) {
    const middle = Math.floor((low + kept) / 2);
    if ((await begins(relation, middle, signal)) === middle) kept = middle;
    else low = middle + 1;
  }
  return kept;
}

/** The epoch if the relation can be read then; else the one that the refusal names, or null. */
async function begins(relation: Relation, epoch: number, signal: AbortSignal): Promise<number | null> {
  const skip = relation.state === 'errors' ? 'skip' : null;
  try {
    await send(address(relation, 'rows', { as_of: epoch, limit: 0, errors: skip }), { signal });
    return epoch;
  } catch (error) {
    if (!(error instanceof Problem) || (error.status !== 410 && error.status !== 409)) throw error;
    const named = /epoch (\d+)/.exec(error.hint)?.[1];
    return named === undefined ? null : Number(named);
  }
}
