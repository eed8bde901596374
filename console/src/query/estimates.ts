/** Estimates of views: what is asked, and what of the answer comes first. */
import { call, query } from '../api/call';
import type { ChangeCost, ViewEstimate } from '../api/types';

/** A name that nothing has: an estimate of a view that is there would leave that one out. */
export function freeName(taken: Iterable<string>): string {
  const names = new Set(taken);
  let name = 'estimate';
  while (names.has(name)) name += '_';
  return name;
}

export function estimate(name: string, sql: string, dialect: string, branch: string | null, signal: AbortSignal): Promise<ViewEstimate> {
  return call(`/v1/views${query({ dry_run: 'true', branch })}`, { body: { name, sql, dialect }, signal });
}

/** The table of which a change takes longest, on a bad day. */
export function worstChange({ changes }: ViewEstimate): ChangeCost | undefined {
  return [...changes].sort((a, b) => b.bad_milliseconds - a.bad_milliseconds)[0];
}

/** Of which tables a part was read, in words; empty if all were read whole. */
export function partsRead({ read }: ViewEstimate): string {
  const parts = read.filter(({ part }) => part < 1).map(({ table, part }) => `${Number((part * 100).toPrecision(2))} % of ${table}`);
  return parts.length ? `estimated from ${parts.join(', ')}` : '';
}
