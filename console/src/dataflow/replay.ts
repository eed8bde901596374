/** A replay as the page steps through it: moments, each a round of an operator, and what has flowed until then. */
import type { Replay, ReplayStep } from '../api/types';
import { counted } from '../rows/text';

export interface Flow {
  taken: number;
  passed: number;
}

/** What each operator has taken and passed on up to and including a step. */
export function flowsUntil(replay: Replay, step: number): Map<string, Flow> {
  const flows = new Map<string, Flow>();
  for (const { operator, taken, passed } of replay.steps.slice(0, step + 1)) {
    const flow = flows.get(operator) ?? { taken: 0, passed: 0 };
    flows.set(operator, { taken: flow.taken + taken, passed: flow.passed + passed });
  }
  return flows;
}

/** The steps at which a round begins, or the work outside of rounds. */
export function roundStarts(replay: Replay): number[] {
  const key = (step: ReplayStep | undefined): string => (step ? step.rounds.join('.') : '-');
  return replay.steps.flatMap((step, place) => (key(step) === key(replay.steps[place - 1]) ? [] : [place]));
}

export function roundOf(step: ReplayStep): string {
  return step.rounds.length ? `round ${step.rounds.join(', ')}` : 'outside of recursions';
}

/** What is told of a step: "join took 4 differences and passed on 5". */
export function toldStep(step: ReplayStep, operator: string): string {
  const many = (count: number): string => `${counted(count)} ${count === 1 ? 'difference' : 'differences'}`;
  if (!step.taken) return `${operator} passed on ${many(step.passed)}`;
  return `${operator} took ${many(step.taken)} and passed on ${step.passed ? counted(step.passed) : 'none'}`;
}

/** The rounds in which anything happened, and how many differences came out of their operators. */
export function roundsTold(replay: Replay): { round: string; start: number; passed: number }[] {
  const starts = roundStarts(replay);
  return starts.map((start, place) => {
    const steps = replay.steps.slice(start, starts[place + 1]);
    return { round: roundOf(steps[0] as ReplayStep), start, passed: steps.reduce((sum, step) => sum + step.passed, 0) };
  });
}
