/**
 * The timeline that the page looks at: the service's own, or a branch of it. Rows are read and changed there, and
 * queries run there. The choice lives as long as the tab.
 */
import { call, path } from '../api/call';
import { asProblem } from '../api/problem';
import type { Branch } from '../api/types';
import { quoteAny, quoteName } from '../sql/statements';
import { notices } from './notices.svelte';
import { service } from './service.svelte';
import { load, save } from './stored';

/** Each branch has so many numbers for its epochs; main has those below them. */
const EPOCHS = 1_000_000_000_000;
const tab = typeof sessionStorage === 'undefined' ? undefined : sessionStorage;

/** Whether two epochs are of one timeline. */
export function areTogether(a: number, b: number): boolean {
  return Math.floor(a / EPOCHS) === Math.floor(b / EPOCHS);
}

class Timeline {
  /** The branch's name; null for main. */
  branch = $state<string | null>(load<string | null>('branch', null, tab));
  /** All branches, as they were when somebody last looked. */
  all = $state.raw<Branch[]>([]);
  private described = $state.raw<Branch | null>(null);
  private newest = $state(0);

  /** The newest epoch; 0 as long as it is not known. */
  get epoch(): number {
    return this.branch === null ? service.epoch : this.newest;
  }

  /** What a request says so that it is for the branch: its name as SQL writes it. */
  get parameter(): string | null {
    return quoteAny(this.branch);
  }

  choose(branch: string | null): void {
    this.branch = branch;
    this.described = null;
    this.newest = 0;
    save('branch', branch, tab);
    void this.look();
  }

  /** An epoch that an answer or a feed has told of. One of another timeline, to which a script has gone, is none. */
  saw(epoch: number): void {
    if (!areTogether(epoch, this.branch === null ? 0 : (this.described?.begins ?? 0))) return;
    if (this.branch === null) service.saw(epoch);
    else if (epoch > this.newest) this.newest = epoch;
  }

  /** Looks at the branch. If it is gone, the page goes back to main. */
  async look(): Promise<void> {
    const { branch } = this;
    if (branch === null) return;
    try {
      const described = await call<Branch>(path('v1', 'branches', quoteName(branch)));
      if (this.branch !== branch) return;
      this.described = described;
      if (described.epoch !== null) this.saw(described.epoch);
    } catch (error) {
      if (this.branch !== branch || asProblem(error).status !== 404) return;
      this.choose(null);
      notices.tell(`Branch ${branch} is gone: this is main`, true);
    }
  }

  async list(): Promise<Branch[]> {
    return (this.all = (await call<{ branches: Branch[] }>('/v1/branches')).branches);
  }
}

export const timeline = new Timeline();
