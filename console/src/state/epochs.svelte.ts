/** The clock times of epochs, asked for when they are shown. */
import { call, query } from '../api/call';
import type { EpochList, ListedEpoch } from '../api/types';
import { timeline } from './timeline.svelte';

/** Epochs whose times are kept. */
const MOST = 20_000;
const PAUSE = 80;
const clock = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

class EpochTimes {
  private times = $state.raw<Map<number, number>>(new Map());
  private asked = new Set<number>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** When an epoch was committed, in milliseconds since 1970; undefined as long as it is not known. */
  of(epoch: number): number | undefined {
    if (!this.times.has(epoch) && epoch > 0) this.ask(epoch);
    return this.times.get(epoch);
  }

  /** An epoch in words, with its time if that is known. */
  told(epoch: number): string {
    const at = this.of(epoch);
    return at === undefined ? '' : clock.format(at);
  }

  learn(epochs: ListedEpoch[]): void {
    const found = new Map(this.times.size > MOST ? [] : this.times);
    for (const { epoch, committed_at: at } of epochs) if (at) found.set(epoch, Date.parse(at));
    this.times = found;
  }

  private ask(epoch: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (this.asked.has(epoch)) return;
      this.asked.add(epoch);
      listEpochs({ since: epoch - 1, until: epoch, limit: 1, branch: timeline.parameter }).then(
        (list) => this.learn(list.epochs),
        () => this.asked.delete(epoch),
      );
    }, PAUSE);
  }
}

export function listEpochs(parameters: Record<string, string | number | null>, signal?: AbortSignal): Promise<EpochList> {
  return call<EpochList>(`/v1/epochs${query(parameters)}`, { signal });
}

export const epochTimes = new EpochTimes();
