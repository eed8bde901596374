/**
 * The service as the whole page knows it: whether it answers, its newest epoch, and its tables and views; on a branch,
 * those views that the branch has.
 *
 * The status is polled, because its figures change all the time. The catalog is read again when its feed tells of
 * a change; while a view is being built, also now and then, for its progress.
 */
import { call, query } from '../api/call';
import { asProblem, type Problem } from '../api/problem';
import type { Status, Table, View } from '../api/types';
import { chosenBranch } from './branch.svelte';
import { catalog } from './catalog.svelte';

export type Connection = 'connecting' | 'connected' | 'starting' | 'reconnecting' | 'locked';
const EACH = 1000;
const AWAY = 2000;
const BUILDING_EACH = 1000;
/** The catalog is read again after so long even if its feed is silent. */
const LONGEST = 60_000;
/** Seconds over which epochs a second are counted. */
const WINDOW = 10;

class Service {
  connection = $state<Connection>('connecting');
  status = $state<Status | null>(null);
  epoch = $state(0);
  rate = $state(0);
  problem = $state<Problem | null>(null);
  tables = $state.raw<Table[]>([]);
  views = $state.raw<View[]>([]);
  /** Whether the catalog has been read at least once. */
  known = $state(false);
  private counted: [number, number][] = [];
  private read = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  start(): void {
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden) void this.poll();
    });
    catalog.follow(() => void this.refresh());
    void this.poll();
  }

  /** Looks now, and reads the catalog anew: after a statement that may have changed it. */
  async refresh(): Promise<void> {
    this.read = 0;
    await this.poll();
  }

  /** Begins anew: another key may see other relations. */
  restart(): void {
    catalog.follow(() => void this.refresh());
    void this.refresh();
  }

  /** An epoch that an answer or a feed has told of. */
  saw(epoch: number): void {
    if (epoch > this.epoch) this.epoch = epoch;
  }

  private async poll(): Promise<void> {
    clearTimeout(this.timer);
    let pause = EACH;
    try {
      const status = await call<Status>('/v1/status');
      this.status = status;
      this.connection = 'connected';
      this.problem = null;
      this.count(status.epoch);
      await this.readCatalog();
    } catch (error) {
      this.problem = asProblem(error);
      this.connection = this.stateFor(this.problem);
      this.counted = [];
      this.rate = 0;
      pause = AWAY;
    }
    if (!document.hidden) this.timer = setTimeout(() => void this.poll(), pause);
  }

  private stateFor(problem: Problem): Connection {
    if (problem.wantsKey) return 'locked';
    return problem.status === 503 ? 'starting' : 'reconnecting';
  }

  private count(epoch: number): void {
    const now = performance.now() / 1000;
    if (epoch < this.epoch) this.counted = []; // another service, or another data directory
    if (epoch < this.epoch) this.epoch = epoch;
    this.saw(epoch);
    this.counted = [...this.counted.filter(([, at]) => now - at <= WINDOW), [epoch, now]];
    const [first] = this.counted;
    this.rate = first && now > first[1] ? (epoch - first[0]) / (now - first[1]) : 0;
  }

  private async readCatalog(): Promise<void> {
    const age = Date.now() - this.read;
    if (this.read && age < (this.views.some((view) => view.state === 'building') ? BUILDING_EACH : LONGEST)) return;
    this.read = Date.now();
    const branch = chosenBranch.parameter;
    const [{ tables }, { views }] = await Promise.all([
      call<{ tables: Table[] }>('/v1/tables'),
      call<{ views: View[] }>(`/v1/views${query({ branch })}`),
    ]);
    if (branch !== chosenBranch.parameter) return;
    this.tables = tables;
    this.views = views;
    this.known = true;
  }
}

export const service = new Service();
