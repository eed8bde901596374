/** The catalog as its feed tells it: the states of tables and views, and which views read what. */
import { EventStream } from '../api/stream';
import type { CatalogEntry } from '../api/types';

class Catalog {
  /** What each view reads, by its name. */
  reads = $state.raw<Map<string, string[]>>(new Map());
  private stream: EventStream | null = null;
  private entries = new Map<string, CatalogEntry>();

  readersOf(name: string): string[] {
    return [...this.reads].filter(([, reads]) => reads.includes(name)).map(([reader]) => reader).sort();
  }

  /** Follows the feed, and calls `changed` when it has told of something. */
  follow(changed: () => void): void {
    this.stream?.stop();
    this.stream = new EventStream('/v1/catalog', {
      headers: () => ({}),
      onState: () => undefined,
      onEvent: ({ event, data }) => {
        if (event === 'catalog') this.entries = new Map(relationsIn(data).map((entry) => [entry.name, entry]));
        else if (event === 'change') this.take(JSON.parse(data) as { happened: string; relation: CatalogEntry });
        else return;
        this.reads = new Map([...this.entries.values()].filter((it) => it.kind === 'view').map((it) => [it.name, it.reads]));
        changed();
      },
    });
  }

  private take({ happened, relation }: { happened: string; relation: CatalogEntry }): void {
    if (happened === 'dropped') this.entries.delete(relation.name);
    else this.entries.set(relation.name, relation);
  }
}

function relationsIn(data: string): CatalogEntry[] {
  return (JSON.parse(data) as { relations: CatalogEntry[] }).relations;
}

export const catalog = new Catalog();
