/** Reasons as a tree that is shown: facts in the place of their numbers, and no level that says the same twice. */
import { writeExact } from '../api/exact';
import type { Fact, Origin, Reason, Row } from '../api/types';

export type Facts = ReadonlyMap<number, Fact>;

const ROUND = /, round (\d+)$/;
const OF_VIEW = /^row of view (.*)$/s;

export function factsOf(facts: Fact[]): Facts {
  return new Map(facts.map((fact) => [fact.fact, fact]));
}

/** The round of a recursion in which a row came, if it is a row of one. */
export function roundOf(reason: Reason, facts: Facts): number | null {
  return roundIn(explained(reason, facts)?.rule ?? '');
}

/** The round that the rule of a fact names. */
export function roundIn(rule: string): number | null {
  const round = ROUND.exec(rule)?.[1];
  return round === undefined ? null : Number(round);
}

/** What a reason follows from. A row of a recursion follows from what its fact says. */
export function causesOf(reason: Reason, facts: Facts): Reason[] {
  const fact = explained(reason, facts);
  const causes = [...(reason.of ?? []), ...(fact === undefined ? [] : roundIn(fact.rule) !== null ? (fact.of ?? []) : [fact])];
  const [only] = causes;
  return causes.length === 1 && only?.rule === 'row' && isSame(only.row, reason.row) ? (only.of ?? []) : causes;
}

/** How many causes are left out. */
export function moreOf(reason: Reason, facts: Facts): number {
  return (reason.more ?? 0) + (explained(reason, facts)?.more ?? 0);
}

/** Whether a reason has a fact that the limits have left out. */
export function isLeftOut(reason: Reason, facts: Facts): boolean {
  return reason.see !== undefined && !facts.has(reason.see);
}

/** The table or view whose row it is; null for a row that operators have made. */
export function relationOf(reason: Reason): string | null {
  return reason.table ?? OF_VIEW.exec(reason.rule)?.[1] ?? null;
}

/** The request that made an epoch, in words. */
export function originOf(by: Origin | null): string {
  if (by?.merged) return `the merge of branch ${by.merged}`;
  if (by?.load) return `load ${by.load}`;
  if (by?.source) return `source ${by.source}`;
  return by?.idempotency_key ? `the post with the idempotency key ${by.idempotency_key}` : 'a post without an idempotency key, or one that your key may not see';
}

function explained(reason: Reason, facts: Facts): Fact | undefined {
  return reason.see === undefined ? undefined : facts.get(reason.see);
}

function isSame(a: Row | undefined, b: Row | undefined): boolean {
  return writeExact(a) === writeExact(b);
}
