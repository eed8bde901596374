/**
 * A changefeed: after a loss of its connection it goes on after the last epoch that it has handed out, so no epoch
 * comes twice and none is left out.
 */
import { parseExact } from './exact';
import type { Problem } from './problem';
import { EventStream, type FeedState } from './stream';
import type { Change } from './types';

export type { FeedState } from './stream';

export interface FeedListener {
  onChanges(epoch: number, changes: Change[]): void;
  onState(state: FeedState, problem: Problem | null): void;
}

export class Feed {
  private readonly stream: EventStream;

  constructor(path: string, since: number, listener: FeedListener) {
    this.stream = new EventStream(path, {
      headers: () => ({ 'Last-Event-ID': String(since) }),
      onState: (state, problem) => listener.onState(state, problem),
      onEvent: ({ event, id, data }) => {
        if (event !== 'changes') return;
        const changes = parseExact(data) as unknown as Change[];
        since = Number(id);
        listener.onChanges(since, changes);
      },
    });
  }

  stop(): void {
    this.stream.stop();
  }
}
