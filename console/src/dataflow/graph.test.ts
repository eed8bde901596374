import { expect, it } from 'vitest';
import type { PlanNode } from '../api/types';
import { byLabel, histograms, quantile } from '../service/metrics';
import { planGraph } from './graph';

const node = (id: string, operator: string, inputs: string[], depth = 0, details: string[] = []): PlanNode => ({ id, operator, inputs, depth, details, columns: [] });

it('a recursion is a box around its operators, with the way back', () => {
  const { boxes, links } = planGraph({
    stage: 'analyze', result: 'o9',
    nodes: [
      node('o0', 'source t', []), node('o1', 'variable', [], 1), node('o2', 'variable', [], 2), node('o3', 'join', ['o2', 'o0'], 2),
      node('o4', 'inner loop', ['o1'], 1, ['values o3']), node('o5', 'concat', ['o4'], 1), node('o6', 'outermost loop', ['o0'], 0, ['values o5']), node('o7', 'leave', ['o6']),
    ],
  });
  const parents = Object.fromEntries(boxes.map((box) => [box.id, box.parent]));
  expect(parents).toMatchObject({ o0: null, o1: 'loop-0', o2: 'loop-1', o3: 'loop-1', 'loop-1': 'loop-0', 'loop-0': null, o5: 'loop-0', o7: null });
  expect(links.filter((link) => link.back)).toEqual([{ from: 'o3', to: 'o2', back: true }, { from: 'o5', to: 'o1', back: true }]);
});

it('metrics are read as Prometheus writes them', () => {
  const text = ['freshet_stage_seconds_bucket{le="0.1"} 3', 'freshet_stage_seconds_bucket{le="+Inf"} 4', 'freshet_stage_seconds_sum 2.5', 'freshet_stage_seconds_count 4', 'freshet_rows{relation="a\\"b"} 7'].join('\n');
  const stage = histograms(text).get('stage');
  expect(stage).toMatchObject({ count: 4, sum: 2.5 });
  expect(stage && [quantile(stage, 0.5), quantile(stage, 0.99)]).toEqual([0.1, Infinity]);
  expect(byLabel(text, 'freshet_rows', 'relation')).toEqual([['a"b', 7]]);
});
