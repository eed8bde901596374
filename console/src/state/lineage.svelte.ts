/** Which views read what: the scans of their plans, asked for once for each text of a view. */
import { call, path } from '../api/call';
import type { Plan, View } from '../api/types';
import { quoteName } from '../sql/statements';

/** Plans that are asked for at the same time. */
const AT_ONCE = 3;
const SCAN = /^scan (.+)$/s;

class Lineage {
  /** What each view reads, by its name; missing while it is not known. */
  reads = $state.raw<Map<string, string[]>>(new Map());
  working = $state(false);
  private texts = new Map<string, string>();

  readersOf(name: string): string[] {
    return [...this.reads].filter(([, reads]) => reads.includes(name)).map(([reader]) => reader).sort();
  }

  /** Learns what views read; those that cannot be planned are left out. */
  async learn(views: View[]): Promise<void> {
    const names = new Set(views.map((view) => view.name));
    for (const name of this.texts.keys()) if (!names.has(name)) this.drop(name);
    const wanted = views.filter((view) => view.state !== 'building' && this.texts.get(view.name) !== view.sql);
    if (!wanted.length || this.working) return;
    this.working = true;
    const found = new Map(this.reads);
    await Promise.all(Array.from({ length: AT_ONCE }, async () => {
      for (let view = wanted.pop(); view; view = wanted.pop()) found.set(view.name, await this.readsOf(view));
    }));
    this.reads = found;
    this.working = false;
  }

  private async readsOf(view: View): Promise<string[]> {
    this.texts.set(view.name, view.sql);
    try {
      const plan = await call<Plan>(`${path('v1', 'views', quoteName(view.name), 'plan')}?stage=logical&format=json`);
      return [...new Set(plan.nodes.flatMap((node) => SCAN.exec(node.operator)?.[1] ?? []))].sort();
    } catch {
      this.texts.delete(view.name);
      return [];
    }
  }

  private drop(name: string): void {
    this.texts.delete(name);
    const left = new Map(this.reads);
    left.delete(name);
    this.reads = left;
  }
}

export const lineage = new Lineage();
