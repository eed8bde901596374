/**
 * A changefeed that survives the loss of its connection: it goes on after the last epoch that it has handed out,
 * so no epoch comes twice and none is left out.
 */
import { send } from './call';
import { serverEvents } from './events';
import { parseExact } from './exact';
import { asProblem, Problem } from './problem';
import type { Change, ProblemBody } from './types';

export type FeedState = 'connecting' | 'live' | 'reconnecting' | 'ended';

export interface FeedListener {
  onChanges(epoch: number, changes: Change[]): void;
  onState(state: FeedState, problem: Problem | null): void;
}

const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 5000;
/** Without a sign of life for so long, the connection counts as lost; the service sends one each 15 seconds. */
const SILENCE = 40_000;

export class Feed {
  private readonly stopping = new AbortController();
  private pause = FIRST_PAUSE;

  constructor(
    private readonly path: string,
    private since: number,
    private readonly listener: FeedListener,
  ) {
    void this.run();
  }

  stop(): void {
    this.stopping.abort();
  }

  private async run(): Promise<void> {
    this.listener.onState('connecting', null);
    while (!this.stopping.signal.aborted) {
      let problem: Problem | null = null;
      try {
        await this.follow();
      } catch (error) {
        if (this.stopping.signal.aborted) return;
        problem = asProblem(error);
        if (problem.status !== 0 && !problem.passes) {
          this.listener.onState('ended', problem);
          return;
        }
      }
      if (this.stopping.signal.aborted) return;
      this.listener.onState('reconnecting', problem);
      await new Promise((resolve) => setTimeout(resolve, this.pause));
      this.pause = Math.min(this.pause * 2, LONGEST_PAUSE);
    }
  }

  private async follow(): Promise<void> {
    const attempt = new AbortController();
    const abort = (): void => attempt.abort();
    this.stopping.signal.addEventListener('abort', abort);
    let silence = setTimeout(abort, SILENCE);
    try {
      const headers = { 'Last-Event-ID': String(this.since) };
      const response = await send(this.path, { accept: 'text/event-stream', headers, signal: attempt.signal });
      if (!response.body) return;
      this.listener.onState('live', null);
      this.pause = FIRST_PAUSE;
      for await (const event of serverEvents(response.body)) {
        clearTimeout(silence);
        silence = setTimeout(abort, SILENCE);
        if (event?.event === 'problem') throw new Problem(JSON.parse(event.data) as ProblemBody);
        if (event?.event === 'changes') this.hand(Number(event.id), event.data);
      }
    } finally {
      clearTimeout(silence);
      this.stopping.signal.removeEventListener('abort', abort);
    }
  }

  private hand(epoch: number, data: string): void {
    const changes = parseExact(data) as unknown as Change[];
    this.since = epoch;
    this.listener.onChanges(epoch, changes);
  }
}
