/**
 * The timeline that the page looks at: the service's own, or a branch of it. Rows are read and changed there, views
 * are made there, and queries run there.
 */
import { call, path } from '../api/call';
import { asProblem } from '../api/problem';
import type { Branch } from '../api/types';
import { quoteName } from '../sql/statements';
import { chosenBranch } from './branch.svelte';
import { notices } from './notices.svelte';
import { service } from './service.svelte';

/** The epochs of branches begin here, and each branch has at least so many. */
const FIRST = 1_000_000_000_000;
const OF_EACH = 10_000_000_000;

/** Whether an epoch is of the branch that begins with another one, or of main, which begins with 0. */
export function isOf(epoch: number, begins: number): boolean {
  return begins === 0 ? epoch < FIRST : epoch >= begins && epoch < begins + OF_EACH;
}

class Timeline {
  /** All branches, as they were when somebody last looked. */
  all = $state.raw<Branch[]>([]);
  private begins = 0;
  private newest = $state(0);

  /** The branch's name; null for main. */
  get branch(): string | null {
    return chosenBranch.name;
  }

  get parameter(): string | null {
    return chosenBranch.parameter;
  }

  /** The newest epoch; 0 as long as it is not known. */
  get epoch(): number {
    return this.branch === null ? service.epoch : this.newest;
  }

  choose(branch: string | null): void {
    chosenBranch.choose(branch);
    this.newest = this.begins = 0;
    void this.look();
    void service.refresh();
  }

  /** An epoch that an answer or a feed has told of. One of another timeline, to which a script has gone, is none. */
  saw(epoch: number): void {
    if (this.branch === null) {
      if (isOf(epoch, 0)) service.saw(epoch);
    } else if (this.begins && isOf(epoch, this.begins) && epoch > this.newest) this.newest = epoch;
  }

  /** Looks at the branch. If it is gone, the page goes back to main. */
  async look(): Promise<void> {
    const { branch } = this;
    if (branch === null) return;
    try {
      const { begins, epoch } = await call<Branch>(path('v1', 'branches', quoteName(branch)));
      if (this.branch !== branch) return;
      this.begins = begins;
      if (epoch !== null) this.saw(epoch);
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
