/** Questions about rows of views, as the service answers them (docs/why.md). */
import { call } from '../api/call';
import { writeExact } from '../api/exact';
import type { Absence, Explanation, Moved, Row } from '../api/types';
import { address, type Relation } from '../relation/reading';

/** Causes of a group that are asked for at first, and when there are more. */
export const CAUSES = 10;
export const MOST_CAUSES = 1000;
/** Rows that are explained for each of these causes, and altogether at most. */
const FACTS = 50;
const MOST_FACTS = 5000;

export function askWhy(view: Relation, row: Row, epoch: number | null, causes: number, signal: AbortSignal): Promise<Explanation> {
  return call(address(view, 'why', { row: writeExact(row), as_of: epoch, causes, facts: Math.min(MOST_FACTS, causes * FACTS) }), { signal });
}

export function askWhyNot(view: Relation, row: Row, epoch: number | null, signal: AbortSignal): Promise<Absence> {
  return call(address(view, 'why-not', { row: writeExact(row), as_of: epoch }), { signal });
}

/** The epochs after `since`, up to `until`, that have changed a row. */
export async function askMoved(view: Relation, row: Row, since: number, until: number, signal: AbortSignal): Promise<Moved[]> {
  const asked = address(view, 'why-changed', { row: writeExact(row), since, until });
  return (await call<{ epochs: Moved[] }>(asked, { signal })).epochs;
}
