import { expect, it } from 'vitest';
import type { Replay, ReplayStep } from '../api/types';
import { adviceOf } from './advice';
import { flowsUntil, roundsTold, roundStarts, toldStep } from './replay';

const step = (operator: string, rounds: number[], taken: number, passed: number): ReplayStep => ({ operator, rounds, taken, passed, rows: [] });
const replay: Replay = {
  view: 'v', epoch: 3, committed_at: null, cut: false, plan: { stage: 'analyze', nodes: [], result: 'o9' },
  steps: [step('o0', [], 0, 1), step('o1', [0], 1, 1), step('o2', [0], 1, 2), step('o1', [1], 2, 2), step('o2', [1], 2, 0), step('o9', [], 3, 3)],
};

it('flows add up to the step that is shown', () => {
  expect([...flowsUntil(replay, 2)]).toEqual([['o0', { taken: 0, passed: 1 }], ['o1', { taken: 1, passed: 1 }], ['o2', { taken: 1, passed: 2 }]]);
  expect(flowsUntil(replay, 5).get('o1')).toEqual({ taken: 3, passed: 3 });
});

it('rounds begin where the steps say', () => {
  expect(roundStarts(replay)).toEqual([0, 1, 3, 5]);
  expect(roundsTold(replay).map(({ round, passed }) => `${round}: ${passed}`)).toEqual(['outside of recursions: 1', 'round 0: 3', 'round 1: 2', 'outside of recursions: 3']);
});

it('a step is told in words', () => {
  expect(toldStep(step('o', [], 1, 0), 'join')).toBe('join took 1 difference and passed on none');
  expect(toldStep(step('o', [], 0, 2), 'source t')).toBe('source t passed on 2 differences');
  expect(adviceOf({ id: 'o', operator: 'group query (r1)', details: [], inputs: [], depth: 0, columns: [] })).toContain('group');
});
