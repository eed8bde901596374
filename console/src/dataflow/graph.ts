/**
 * Plans and catalogs as graphs: boxes inside boxes, with edges between them.
 *
 * A plan lists its operators in the order of evaluation, with their depth of recursion. Operators that are deeper
 * than the ones around them are the body of the loop that follows them.
 */
import type { Plan, PlanNode, Table, View } from '../api/types';

export interface Box {
  id: string;
  title: string;
  kind: 'operator' | 'loop' | 'table' | 'view';
  /** The box around it; null for none. */
  parent: string | null;
  node: PlanNode | null;
  state: string;
}

export interface Link {
  from: string;
  to: string;
  /** A value of a round that the next round begins with. */
  back: boolean;
}

export interface Graph {
  boxes: Box[];
  links: Link[];
}

export function planGraph(plan: Plan): Graph {
  const boxes: Box[] = [];
  const links: Link[] = [];
  const open: { id: string; members: PlanNode[] }[] = [];
  let loops = 0;
  for (const node of plan.nodes) {
    const ended = open.splice(node.depth).reverse();
    for (const loop of ended) links.push(...feedback(loop.members, node));
    while (open.length < node.depth) {
      const id = `loop-${loops++}`;
      boxes.push({ id, title: 'recursion', kind: 'loop', parent: open.at(-1)?.id ?? null, node: null, state: '' });
      open.push({ id, members: [] });
    }
    open.at(-1)?.members.push(node);
    boxes.push({ id: node.id, title: node.operator, kind: 'operator', parent: open.at(-1)?.id ?? null, node, state: '' });
    for (const input of node.inputs) links.push({ from: input, to: node.id, back: false });
  }
  const known = new Set(boxes.map((box) => box.id));
  return { boxes, links: links.filter((link) => known.has(link.from) && known.has(link.to)) };
}

/** The edges from the values of a loop to its variables, in their order: what the next round begins with. */
function feedback(members: PlanNode[], loop: PlanNode): Link[] {
  const values = loop.details.flatMap((detail) => /^values? (.+)$/.exec(detail)?.[1]?.split(/,? +/) ?? []);
  const variables = members.filter((node) => /^variable\b/.test(node.operator));
  const body = loop.details.some((detail) => detail.startsWith('value'));
  return body ? variables.flatMap((variable, place) => (values[place] ? [{ from: values[place], to: variable.id, back: true }] : [])) : [];
}

export function catalogGraph(tables: Table[], views: View[], reads: Map<string, string[]>): Graph {
  const known = new Set([...tables, ...views].map((relation) => relation.name));
  const boxes: Box[] = [
    ...tables.map((table): Box => ({ id: table.name, title: table.name, kind: 'table', parent: null, node: null, state: '' })),
    ...views.map((view): Box => ({ id: view.name, title: view.name, kind: 'view', parent: null, node: null, state: view.state })),
  ];
  const links = views.flatMap((view) => (reads.get(view.name) ?? []).filter((name) => known.has(name)).map((name) => ({ from: name, to: view.name, back: false })));
  return { boxes, links };
}

export const HEATS = { time: 'milliseconds', memory: 'memory', rows: 'rows', churn: 'out' } as const;
export type Heat = keyof typeof HEATS;

/** The share of each operator in a figure, from 0 to 1. */
export function heats(plan: Plan, heat: Heat): Map<string, number> {
  const figure = HEATS[heat];
  const of = (node: PlanNode): number => (node.figures?.[figure] ?? 0) + (heat === 'memory' ? (node.figures?.mapped ?? 0) : 0);
  const highest = Math.max(1e-9, ...plan.nodes.map(of));
  return new Map(plan.nodes.map((node) => [node.id, of(node) / highest]));
}

/** The operators that have taken the most time, in words. */
export function costs(plan: Plan): { total: number; most: PlanNode[] } {
  const took = (node: PlanNode): number => node.figures?.milliseconds ?? 0;
  const most = [...plan.nodes].sort((a, b) => took(b) - took(a)).filter((node) => took(node) > 0).slice(0, 3);
  return { total: plan.nodes.reduce((sum, node) => sum + took(node), 0), most };
}
