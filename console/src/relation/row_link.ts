/** Links to one row of a table or view, at an epoch if it is a past one. */
import { parseExact, writeExact } from '../api/exact';
import type { Row } from '../api/types';
import { hashOf } from '../state/router.svelte';

/** The page of a row; of a past epoch if one is given. */
export function linkOf(relation: string, row: Row | undefined, epoch: number | null): string {
  const parameters = { ...(row && { row: writeExact(row) }), ...(epoch !== null && { epoch: String(epoch) }) };
  return hashOf('relation', relation, parameters);
}

/** What the parameters of a link say; nothing of what they do not say well. */
export function linked(parameters: URLSearchParams): { row: Row | null; epoch: number | null } {
  const epoch = parameters.get('epoch') ?? '';
  return { row: rowIn(parameters.get('row')), epoch: /^\d{1,15}$/.test(epoch) ? Number(epoch) : null };
}

function rowIn(text: string | null): Row | null {
  try {
    const row = text === null ? null : parseExact(text);
    return row !== null && typeof row === 'object' && !Array.isArray(row) ? row : null;
  } catch {
    return null;
  }
}
