/**
 * The rows of a relation on the page: live, or as of an epoch.
 *
 * The changes of a feed wait until the browser draws, so that the rows are drawn at the display's rate however many
 * come; each of them is applied and counted.
 */
import { isAbort } from '../api/call';
import { Feed, type FeedState } from '../api/feed';
import { asProblem, type Problem } from '../api/problem';
import type { Change } from '../api/types';
import { contains, type Flash, type Grid, type Sorting } from '../rows/grid';
import { FLASH, RowSet, type Entry } from '../rows/row_set';
import { compare, isNumeric } from '../rows/text';
import { timeline } from '../state/timeline.svelte';
import { address, countRows, readRows, type Relation } from './reading';

/** The least time between two arrangements of sorted or filtered rows. */
const ARRANGE = 200;
const HIDDEN = 500;
const REQUERY = 1000;
/** Rows on the page, with those that have come since: so many that memory stays level however long it is open. */
const MOST_LIVE = 25_000;

export class LiveRows {
  state = $state<FeedState | 'loading' | 'past'>('loading');
  problem = $state.raw<Problem | null>(null);
  /** The epoch that is shown. */
  epoch = $state(0);
  total = $state<number | null>(null);
  shown = $state(0);
  inserted = $state(0);
  deleted = $state(0);
  epochs = $state(0);
  cutOff = $state(false);
  /** Counts the times that the rows have changed. */
  version = $state(0);
  grid = $state.raw<Grid>({ columns: [], size: 0, cell: () => null });
  /** How many rows the newest epoch has changed. */
  last = 0;
  needle = '';
  where = '';
  sorting: Sorting | null = null;
  private set: RowSet;
  private visible: Entry[] = [];
  private feed: Feed | null = null;
  private waiting: [number, Change[]][] = [];
  private scheduled = false;
  private arrangedAt = 0;
  private stopping = new AbortController();
  private sweeper: ReturnType<typeof setTimeout> | undefined;
  private requery: ReturnType<typeof setTimeout> | undefined;
  private asOf: number | null = null;

  constructor(readonly relation: Relation) {
    const key = relation.key.map((name) => relation.columns.findIndex((column) => column.name === name));
    this.set = new RowSet(relation.columns, key, MOST_LIVE);
    this.grid = this.gridWith(false);
    this.remake = () => new RowSet(relation.columns, key, MOST_LIVE);
  }

  private remake: () => RowSet;
  private withCopies = false;

  private gridWith(copies: boolean): Grid {
    return gridOf(() => this.visible, this.relation, copies);
  }

  /** Reads the rows and follows them; with an epoch, reads them as of then. */
  async open(asOf: number | null = null): Promise<void> {
    this.close();
    const { signal } = (this.stopping = new AbortController());
    const wasShown = this.version > 0;
    this.asOf = asOf;
    if (!wasShown) this.state = 'loading';
    try {
      const read = await readRows(this.relation, asOf, this.where, signal);
      if (wasShown) this.set.become(read.rows, performance.now(), read.cutOff);
      else {
        this.set = this.remake();
        this.set.fill(read.rows, read.cutOff);
      }
      this.epoch = read.epoch;
      this.cutOff = read.cutOff;
      this.problem = null;
      this.total = read.cutOff ? null : read.rows.length;
      this.arrange(true);
      if (asOf === null) this.follow(read.epoch);
      else this.state = 'past';
      if (read.cutOff && !this.where) await this.countAll(read.epoch, signal);
    } catch (error) {
      if (isAbort(error)) return;
      this.problem = asProblem(error);
      this.state = 'ended';
      if (this.problem.passes) setTimeout(() => signal.aborted || void this.open(asOf), 1500);
    }
  }

  close(): void {
    this.stopping.abort();
    this.feed?.stop();
    this.feed = null;
    this.waiting = [];
    clearTimeout(this.requery);
  }

  /** Sorts and filters anew, at once. */
  arrange(now = true): void {
    const time = performance.now();
    if (!now && time - this.arrangedAt < ARRANGE) return;
    this.arrangedAt = time;
    this.show();
    this.sweepLater();
  }

  private show(): void {
    this.visible = this.arranged();
    this.shown = this.visible.length;
    this.version += 1;
    const copies = this.visible.some((entry) => entry.count > 1);
    if (copies !== this.withCopies) this.grid = this.gridWith((this.withCopies = copies));
  }

  identityOf(row: number): { columns: number[]; values: Entry['values'] } {
    const values = this.visible[row]?.values ?? [];
    return { columns: this.set.identityColumns, values };
  }

  private follow(since: number): void {
    const skip = this.relation.state === 'errors' ? 'skip' : null;
    this.feed = new Feed(address(this.relation, 'changes', { format: 'sse', since, errors: skip }), since, {
      onChanges: (epoch, changes) => this.receive(epoch, changes),
      onState: (state, problem) => {
        this.state = state;
        this.problem = state === 'ended' ? problem : null;
      },
    });
  }

  private async countAll(epoch: number, signal: AbortSignal): Promise<void> {
    const before = this.inserted - this.deleted;
    const count = await countRows(this.relation, epoch, signal);
    this.total = count + (this.inserted - this.deleted) - before;
  }

  private receive(epoch: number, changes: Change[]): void {
    this.waiting.push([epoch, changes]);
    if (this.scheduled) return;
    this.scheduled = true;
    const draw = (): void => this.draw();
    if (document.hidden) setTimeout(draw, HIDDEN);
    else requestAnimationFrame(draw);
  }

  private draw(): void {
    this.scheduled = false;
    const waiting = this.waiting;
    this.waiting = [];
    if (!waiting.length) return;
    const now = performance.now();
    for (const [epoch, changes] of waiting) {
      if (this.where) this.count(changes);
      else this.apply(changes, now);
      this.epoch = epoch;
      this.last = changes.reduce((sum, change) => sum + Math.abs(change.diff), 0);
      this.epochs += 1;
      timeline.saw(epoch);
    }
    if (!this.where) this.cutOff = this.set.isPartial;
    if (this.where) this.askAgain();
    else this.arrange(!this.sorting && !this.needle);
  }

  private apply(changes: Change[], now: number): void {
    this.set.apply(changes, now);
    this.count(changes);
    const sum = changes.reduce((total, change) => total + change.diff, 0);
    if (this.total !== null) this.total += sum;
  }

  private count(changes: Change[]): void {
    for (const { diff } of changes) {
      if (diff > 0) this.inserted += diff;
      else this.deleted -= diff;
    }
  }

  /** With a predicate the service decides which rows there are: it is asked again, at most once a second. */
  private askAgain(): void {
    clearTimeout(this.requery);
    const { signal } = this.stopping;
    this.requery = setTimeout(() => {
      readRows(this.relation, this.asOf, this.where, signal).then((read) => {
        this.set.become(read.rows, performance.now(), read.cutOff);
        this.cutOff = read.cutOff;
        this.total = read.cutOff ? null : read.rows.length;
        this.arrange(true);
      }, (error: unknown) => {
        if (!isAbort(error)) this.problem = asProblem(error);
      });
    }, REQUERY);
  }

  private sweepLater(): void {
    clearTimeout(this.sweeper);
    this.sweeper = setTimeout(() => {
      const more = this.set.sweep(performance.now());
      this.show();
      if (more) this.sweepLater();
    }, FLASH / 4);
  }

  private arranged(): Entry[] {
    let found = this.set.entries;
    const needle = this.needle.toLowerCase();
    if (needle) {
      const grid = gridOf(() => this.set.entries, this.relation, false);
      found = found.filter((_, row) => contains(grid, row, needle));
    }
    const { sorting } = this;
    if (!sorting) return found;
    const numeric = isNumeric(this.relation.columns[sorting.column]?.type ?? '');
    return [...found].sort((a, b) => {
      const [left, right] = [a.values[sorting.column], b.values[sorting.column]];
      const nulls = Number(left === null) - Number(right === null);
      return nulls || (sorting.down ? -1 : 1) * compare(left, right, numeric) || a.id - b.id;
    });
  }
}

/** Entries as the table takes them; equal rows of a bag are one, with their number in a last column if need be. */
function gridOf(entries: () => Entry[], relation: Relation, withCopies: boolean): Grid {
  const copies = relation.columns.length;
  const columns = withCopies ? [...relation.columns, { name: 'copies', type: 'BIGINT' }] : relation.columns;
  return {
    columns,
    get size() {
      return entries().length;
    },
    cell: (row, column) => (column === copies ? (entries()[row]?.count ?? 0) : entries()[row]?.values[column]),
    flash: (row, column) => flashOf(entries()[row], column, copies),
    key: (row) => entries()[row]?.id ?? row,
  };
}

function flashOf(entry: Entry | undefined, column: number, copies: number): Flash {
  if (!entry?.flash) return '';
  if (column < 0) return entry.flash === 'changed' ? '' : entry.flash;
  if (entry.flash !== 'changed') return '';
  return entry.changed.includes(column) || (!entry.changed.length && column === copies) ? 'changed' : '';
}
