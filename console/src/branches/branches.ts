/** Branches in words, and what the service is asked about them (docs/branches.md). */
import { call, path, query } from '../api/call';
import type { Json } from '../api/exact';
import type { Branch, BranchDifference, Merge } from '../api/types';
import { quoteName } from '../sql/statements';

export const MAIN = 'main';
export const CHOICES = ['fail', 'ours', 'theirs'] as const;
export type Choice = (typeof CHOICES)[number];

/** What a merge does where both have changed a row. */
export function choiceTold(choice: Choice, branch: Branch): string {
  if (choice === 'fail') return 'merge nothing, and name those rows';
  return choice === 'ours' ? `keep the rows of ${branch.of}` : `take the rows of ${branch.name}`;
}

/** How many epochs a branch has of its own, those included that a live one has from its parent. */
export function ownEpochs(branch: Branch): number {
  return branch.epoch === null ? 0 : branch.epoch - branch.begins;
}

/** What somebody has typed for the epoch at which a branch parts: a number, a time as it is, or nothing for now. */
export function asOfGiven(text: string): number | string | null {
  const trimmed = text.trim();
  if (/^[\d,]+$/.test(trimmed)) return Number(trimmed.replaceAll(',', ''));
  return trimmed || null;
}

/** The branches with which one can be compared: main, and all others that are there. */
export function others(branch: Branch, all: Branch[]): string[] {
  return [MAIN, ...all.filter((one) => one.lost === null && one.name !== branch.name).map((one) => one.name)];
}

/** The name is as somebody has written it; all others are those of branches that are there. */
export function makeBranch(name: string, of: string, asOf: number | string | null, live: boolean): Promise<Branch> {
  return call('/v1/branches', { body: { name, of: quoteName(of), as_of: asOf, live } });
}

export function mergeBranch(name: string, choice: Choice): Promise<Merge> {
  return call(path('v1', 'branches', quoteName(name), 'merge'), { body: { on_conflict: choice } as Json });
}

export async function dropBranch(name: string): Promise<void> {
  await call(path('v1', 'branches', quoteName(name)), { method: 'DELETE' });
}

/** How a relation differs on a branch from how it is on another. The first `limit` rows, and the number of all. */
export function compare(branch: string, relation: string, against: string, limit: number, signal: AbortSignal): Promise<BranchDifference> {
  return call(`${path('v1', 'branches', quoteName(branch), 'diff')}${query({ view: quoteName(relation), against: quoteName(against), limit })}`, { signal });
}
