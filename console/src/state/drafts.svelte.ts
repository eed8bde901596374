/** The drafts of the query page and what has been run, kept in the browser. */
import { load, save } from './stored';

export interface Draft {
  id: string;
  name: string;
  text: string;
  dialect: string;
}

export interface Run {
  at: number;
  text: string;
  dialect: string;
  milliseconds: number;
  outcome: string;
  failed: boolean;
}

const KEPT_RUNS = 200;
const LONGEST_KEPT = 20_000;

class Drafts {
  all = $state<Draft[]>(load<Draft[]>('drafts', []));
  open = $state(load<string>('draft', ''));
  runs = $state.raw<Run[]>(load<Run[]>('runs', []));

  constructor() {
    if (!this.all.length) this.add();
    if (!this.all.some((draft) => draft.id === this.open)) this.open = this.all[0]?.id ?? '';
  }

  get current(): Draft {
    return this.all.find((draft) => draft.id === this.open) ?? this.all[0] ?? this.add();
  }

  add(text = '', name = ''): Draft {
    const number = 1 + Math.max(0, ...this.all.map((draft) => Number(/^Draft (\d+)$/.exec(draft.name)?.[1] ?? 0)));
    const draft = { id: Math.random().toString(36).slice(2), name: name || `Draft ${number}`, text, dialect: 'postgres' };
    this.all.push(draft);
    this.choose(draft.id);
    this.keep();
    return draft;
  }

  choose(id: string): void {
    this.open = id;
    save('draft', id);
  }

  close(id: string): void {
    const place = this.all.findIndex((draft) => draft.id === id);
    this.all.splice(place, 1);
    if (!this.all.length) this.add();
    if (this.open === id) this.choose(this.all[Math.max(0, place - 1)]?.id ?? '');
    this.keep();
  }

  keep(): void {
    save('drafts', this.all);
  }

  ran(run: Run): void {
    this.runs = [{ ...run, text: run.text.slice(0, LONGEST_KEPT) }, ...this.runs].slice(0, KEPT_RUNS);
    save('runs', this.runs);
  }

  forgetRuns(): void {
    this.runs = [];
    save('runs', null);
  }
}

export const drafts = new Drafts();
