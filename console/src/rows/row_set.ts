/**
 * Rows as a set of differences: what a relation's changes make of the rows that were read.
 *
 * A row is there as often as its differences sum to. A row that goes in the epoch in which another of the same
 * identity comes keeps its place and counts as changed. The identity is the primary key; without one, the least
 * leading columns that tell the first rows apart. It only decides where a row is drawn, never whether it is there.
 */
import { writeExact, type Json } from '../api/exact';
import type { Change, Column } from '../api/types';
import type { Flash } from './grid';

export interface Entry {
  id: number;
  values: Json[];
  count: number;
  flash: Flash;
  /** The columns that the last change has changed. */
  changed: number[];
  /** When it changed, in milliseconds. */
  at: number;
}

/** How long a flash is drawn, and a row that has gone stays. */
export const FLASH = 1600;
const LINGER = 1100;
/** More rows than these that have gone are not drawn while they fade. */
const MOST_LINGERING = 200;

export class RowSet {
  entries: Entry[] = [];
  /** Rows that came and went since the beginning, copies counted. */
  inserted = 0;
  deleted = 0;
  private byRow = new Map<string, Entry>();
  private identity: number[] = [];
  private lastId = 0;
  private flashing: Entry[] = [];
  private lingering = 0;
  private partial = false;

  /** With more rows than `most`, the set is a part of the relation. */
  constructor(
    readonly columns: Column[],
    private readonly key: number[],
    private readonly most = Infinity,
  ) {}

  /** Whether the relation has rows that the set has not. */
  get isPartial(): boolean {
    return this.partial;
  }

  /** Takes the rows that were read; `cutOff` if there are more. Of a bag, the last one may have copies beyond. */
  fill(rows: Json[][], cutOff = false): void {
    this.partial = cutOff;
    this.identity = this.key.length ? this.key : leading(rows, this.columns.length);
    for (const values of cutOff && !this.key.length ? withoutLast(rows) : rows) this.add(values, 1, '', 0);
  }

  has(values: Json[]): number {
    return this.byRow.get(writeExact(values))?.count ?? 0;
  }

  /** Applies the changes of one epoch. */
  apply(changes: Change[], now: number): void {
    const leaving = new Map<string, Entry>();
    const net = this.netOf(changes);
    for (const { values, diff } of net) if (diff < 0) this.take(values, -diff, now, leaving);
    for (const { values, diff } of net) if (diff > 0) this.put(values, diff, now, leaving);
  }

  /** Makes the rows those that are given; the difference flashes. */
  become(rows: Json[][], now: number, cutOff = false): void {
    this.partial = false;
    this.replace(cutOff && !this.key.length ? withoutLast(rows) : rows, now);
    this.partial = cutOff;
  }

  private replace(rows: Json[][], now: number): void {
    const wanted = new Map<string, { values: Json[]; count: number }>();
    for (const values of rows) {
      const text = writeExact(values);
      const found = wanted.get(text);
      if (found) found.count += 1;
      else wanted.set(text, { values, count: 1 });
    }
    const leaving = new Map<string, Entry>();
    for (const [text, entry] of [...this.byRow]) {
      const excess = entry.count - (wanted.get(text)?.count ?? 0);
      if (excess > 0) this.take(entry.values, excess, now, leaving);
    }
    for (const [text, { values, count }] of wanted) {
      const missing = count - (this.byRow.get(text)?.count ?? 0);
      if (missing > 0) this.put(values, missing, now, leaving);
    }
  }

  /** Ends the flashes that are over and drops the rows that have faded. Whether anything is left to end. */
  sweep(now: number): boolean {
    const over = (entry: Entry): boolean => now - entry.at >= (entry.count === 0 ? LINGER : FLASH);
    const ended = this.flashing.filter(over);
    if (ended.length) {
      this.flashing = this.flashing.filter((entry) => !over(entry));
      for (const entry of ended) entry.flash = '';
      if (ended.some((entry) => entry.count === 0)) this.entries = this.entries.filter((e) => e.count > 0 || !over(e));
      this.lingering = this.entries.length - this.byRow.size;
    }
    return this.flashing.length > 0;
  }

  identityOf(values: Json[]): string {
    return writeExact(this.identity.map((place) => values[place] ?? null));
  }

  get identityColumns(): number[] {
    return this.identity;
  }

  private netOf(changes: Change[]): { values: Json[]; diff: number }[] {
    const net = new Map<string, { values: Json[]; diff: number }>();
    for (const { row, diff } of changes) {
      if (diff > 0) this.inserted += diff;
      else this.deleted -= diff;
      const values = this.columns.map((column) => row[column.name] ?? null);
      const text = writeExact(values);
      const found = net.get(text);
      if (found) found.diff += diff;
      else net.set(text, { values, diff });
    }
    return [...net.values()];
  }

  private take(values: Json[], count: number, now: number, leaving: Map<string, Entry>): void {
    const text = writeExact(values);
    const entry = this.byRow.get(text);
    if (!entry) return; // it lies beyond the rows that were read
    entry.count -= Math.min(count, entry.count);
    if (entry.count > 0) {
      this.mark(entry, 'changed', [], now);
      return;
    }
    this.byRow.delete(text);
    leaving.set(this.identityOf(values), entry);
    this.lingering += 1;
    if (this.lingering > MOST_LINGERING) entry.at = 0;
    else this.mark(entry, 'out', [], now);
    if (!this.flashing.includes(entry)) this.flashing.push(entry);
  }

  private put(values: Json[], count: number, now: number, leaving: Map<string, Entry>): void {
    const present = this.byRow.get(writeExact(values));
    if (present) {
      present.count += count;
      this.mark(present, 'changed', [], now);
      return;
    }
    const identity = this.identityOf(values);
    const before = leaving.get(identity);
    if (this.partial && !this.key.length) return; // it may have copies beyond the rows that are here
    if (!before || before.count > 0) {
      if (this.byRow.size < this.most) this.add(values, count, 'in', now);
      else this.partial = true;
      return;
    }
    leaving.delete(identity);
    const changed = values.flatMap((value, place) => (writeExact(value) === writeExact(before.values[place]) ? [] : [place]));
    before.values = values;
    before.count = count;
    this.lingering -= 1;
    this.byRow.set(writeExact(values), before);
    this.mark(before, 'changed', changed, now);
  }

  private add(values: Json[], count: number, flash: Flash, now: number): void {
    const text = writeExact(values);
    const present = this.byRow.get(text);
    if (present) {
      present.count += count;
      return;
    }
    const entry: Entry = { id: ++this.lastId, values, count, flash: '', changed: [], at: 0 };
    this.entries.push(entry);
    this.byRow.set(text, entry);
    if (flash) this.mark(entry, flash, [], now);
  }

  private mark(entry: Entry, flash: Flash, changed: number[], now: number): void {
    if (entry.flash === '') this.flashing.push(entry);
    entry.flash = flash;
    entry.changed = changed;
    entry.at = now;
  }
}

/** The rows before the last one and its copies. */
function withoutLast(rows: Json[][]): Json[][] {
  const last = writeExact(rows.at(-1) ?? null);
  return rows.filter((row) => writeExact(row) !== last);
}

/** The least leading columns by which no two of the rows are equal; all columns if there are none. */
export function leading(rows: Json[][], width: number): number[] {
  for (let taken = 1; taken < width; taken += 1) {
    const seen = new Set<string>();
    const distinct = rows.every((row) => seen.size < seen.add(writeExact(row.slice(0, taken))).size);
    if (distinct && rows.length) return Array.from({ length: taken }, (_, place) => place);
  }
  return Array.from({ length: width }, (_, place) => place);
}
