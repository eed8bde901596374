/**
 * An event stream that survives the loss of its connection, and says how it is. While the page is hidden it rests:
 * a browser has few connections to one service, and all of its tabs share them.
 */
import { send } from './call';
import { serverEvents, type ServerEvent } from './events';
import { asProblem, Problem } from './problem';
import type { ProblemBody } from './types';

export type FeedState = 'connecting' | 'live' | 'reconnecting' | 'ended';

export interface StreamListener {
  /** Headers of the next attempt: what the stream has to go on after. */
  headers(): Record<string, string>;
  onEvent(event: ServerEvent): void;
  onState(state: FeedState, problem: Problem | null): void;
}

const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 5000;
/** Without a sign of life for so long, the connection counts as lost; the service sends one each 15 seconds. */
const SILENCE = 40_000;
/** After so long out of sight, a stream rests. */
const HIDDEN = 30_000;

export class EventStream {
  private readonly stopping = new AbortController();
  private pause = FIRST_PAUSE;

  constructor(private readonly path: string, private readonly listener: StreamListener) {
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
      await seen(this.stopping.signal);
      await new Promise((resolve) => setTimeout(resolve, this.pause));
      this.pause = Math.min(this.pause * 2, LONGEST_PAUSE);
    }
  }

  private async follow(): Promise<void> {
    const attempt = new AbortController();
    const abort = (): void => attempt.abort();
    this.stopping.signal.addEventListener('abort', abort);
    let silence = setTimeout(abort, SILENCE);
    let hidden: ReturnType<typeof setTimeout> | undefined;
    const look = (): void => {
      clearTimeout(hidden);
      if (document.hidden) hidden = setTimeout(abort, HIDDEN);
    };
    document.addEventListener('visibilitychange', look);
    try {
      const headers = this.listener.headers();
      const response = await send(this.path, { accept: 'text/event-stream', headers, signal: attempt.signal });
      if (!response.body) return;
      this.listener.onState('live', null);
      this.pause = FIRST_PAUSE;
      for await (const event of serverEvents(response.body)) {
        clearTimeout(silence);
        silence = setTimeout(abort, SILENCE);
        if (event?.event === 'problem') throw new Problem(JSON.parse(event.data) as ProblemBody);
        if (event) this.listener.onEvent(event);
      }
    } finally {
      clearTimeout(silence);
      clearTimeout(hidden);
      document.removeEventListener('visibilitychange', look);
      this.stopping.signal.removeEventListener('abort', abort);
    }
  }
}

/** Waits until the page can be seen, or the stream is stopped. */
async function seen(stopped: AbortSignal): Promise<void> {
  while (document.hidden && !stopped.aborted) {
    await new Promise((resolve) => {
      document.addEventListener('visibilitychange', resolve, { once: true });
      stopped.addEventListener('abort', resolve, { once: true });
    });
  }
}
