/** Where the boxes of a graph are drawn: elkjs computes it in a worker of its own. */
import ELK, { type ElkNode } from 'elkjs/lib/elk-api.js';
import worker from 'elkjs/lib/elk-worker.min.js?url';
import type { Box, Graph } from './graph';

export interface Placed {
  x: number;
  y: number;
  width: number;
  height: number;
}

const OPTIONS = {
  'elk.algorithm': 'layered',
  'elk.direction': 'DOWN',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.layered.spacing.nodeNodeBetweenLayers': '36',
  'elk.spacing.nodeNode': '24',
  'elk.padding': '[top=34,left=16,bottom=16,right=16]',
};
export const BOX = { width: 208, height: 56 };

let elk: InstanceType<typeof ELK> | null = null;

export async function placed(graph: Graph): Promise<Map<string, Placed>> {
  elk ??= new ELK({ workerFactory: () => new Worker(worker) });
  const inside = (parent: string | null): ElkNode[] => graph.boxes.filter((box) => box.parent === parent).map(nodeOf);
  const nodeOf = (box: Box): ElkNode =>
    box.kind === 'loop' ? { id: box.id, children: inside(box.id), layoutOptions: OPTIONS } : { id: box.id, ...BOX };
  const root = await elk.layout({
    id: '', // no name of a relation is empty
    layoutOptions: OPTIONS,
    children: inside(null),
    edges: graph.links.map((link, place) => ({ id: `${place}`, sources: [link.from], targets: [link.to] })),
  });
  const found = new Map<string, Placed>();
  const collect = (node: ElkNode): void => {
    for (const child of node.children ?? []) {
      found.set(child.id, { x: child.x ?? 0, y: child.y ?? 0, width: child.width ?? 0, height: child.height ?? 0 });
      collect(child);
    }
  };
  collect(root);
  return found;
}
