/** Runs scripts: the results of the last one, its problem, and how far its rows have come. */
import { call, isAbort } from '../api/call';
import { asProblem, type Problem } from '../api/problem';
import type { Result } from '../api/types';
import { complete, FIRST, ResultGrid } from '../rows/results';
import { counted } from '../rows/text';
import { drafts } from '../state/drafts.svelte';
import { service } from '../state/service.svelte';
import { timeline } from '../state/timeline.svelte';

export interface Shown {
  result: Result;
  grid: ResultGrid | null;
}

/** Statements that only read: the catalog stays as it is. */
const READS = /^(SELECT|EXPLAIN|SHOW|DESCRIBE)$/;

export class Runner {
  running = $state(false);
  results = $state.raw<Shown[]>([]);
  problem = $state.raw<Problem | null>(null);
  milliseconds = $state(0);
  /** Rows of the last result so far, while more of them come. */
  reading = $state<number | null>(null);
  cutOff = $state(false);
  /** Counts what has come, for tables that have to be drawn anew. */
  version = $state(0);
  script = '';
  dialect = '';
  private stopping = new AbortController();

  /** Runs a script. `again` for one that follows the epochs: it is no entry of the history. */
  async run(script: string, dialect: string, again = false): Promise<void> {
    this.stop();
    const { signal } = (this.stopping = new AbortController());
    this.script = script;
    this.dialect = dialect;
    this.running = true;
    if (!again) this.problem = null;
    const begun = performance.now();
    try {
      const { results } = await call<{ results: Result[] }>('/v1/sql', { body: { sql: script, dialect, limit: FIRST, branch: timeline.parameter }, signal });
      const shown = results.map((result) => ({ result, grid: result.columns ? new ResultGrid(result) : null }));
      this.milliseconds = performance.now() - begun;
      this.results = shown;
      this.problem = null;
      this.cutOff = false;
      this.version += 1;
      if (!again) this.note(outcome(results), false);
      for (const { epoch } of results) timeline.saw(epoch);
      if (results.some((result) => !READS.test(result.statement))) void service.refresh();
      await this.readOn(shown.at(-1), signal);
    } catch (error) {
      if (isAbort(error)) return;
      this.milliseconds = performance.now() - begun;
      this.problem = asProblem(error);
      if (!again) {
        this.results = [];
        this.note(this.problem.message, true);
        if ((this.problem.index ?? 0) > 0) void service.refresh();
      }
    } finally {
      if (!signal.aborted) {
        this.running = false;
        this.reading = null;
      }
    }
  }

  stop(): void {
    this.stopping.abort();
    this.running = false;
    this.reading = null;
  }

  private async readOn(last: Shown | undefined, signal: AbortSignal): Promise<void> {
    if (!last?.grid || !last.result.next) return;
    const { grid } = last;
    const done = await complete(grid, last.result.next, (rows) => (this.reading = rows), signal);
    this.cutOff = done.cutOff;
    this.version += 1;
  }

  private note(text: string, failed: boolean): void {
    const { script, dialect, milliseconds } = this;
    drafts.ran({ at: Date.now(), text: script, dialect, milliseconds, outcome: text, failed });
  }
}

export function outcome(results: Result[]): string {
  const last = results.at(-1);
  if (!last) return 'nothing to run';
  const before = results.length > 1 ? `${results.length} statements, the last: ` : '';
  if (last.rows) return `${before}${last.next ? 'more than ' : ''}${counted(last.rows.length)} ${last.rows.length === 1 ? 'row' : 'rows'}`;
  return `${before}${last.statement}${last.count === undefined ? '' : `, ${counted(last.count)}`}`;
}
