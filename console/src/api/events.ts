/**
 * Server-sent events out of a stream of bytes. EventSource cannot send a key, so feeds are read with fetch.
 *
 * An event that the stream breaks off is dropped: it comes again after `Last-Event-ID`.
 */
export interface ServerEvent {
  id: string;
  event: string;
  data: string;
}

export async function* serverEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent | null> {
  for await (const block of blocks(body)) yield eventOf(block);
}

/** The blocks between empty lines. */
async function* blocks(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let pending = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      pending += decoder.decode(value, { stream: true });
      const found = pending.split('\n\n');
      pending = found.pop() ?? '';
      yield* found;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** The event of a block; null for a comment, which only says that the stream is alive. */
export function eventOf(block: string): ServerEvent | null {
  const event: ServerEvent = { id: '', event: 'message', data: '' };
  const data: string[] = [];
  for (const line of block.split('\n')) {
    const [, field = '', value = ''] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
    if (field === 'data') data.push(value);
    else if (field === 'id') event.id = value;
    else if (field === 'event') event.event = value;
  }
  event.data = data.join('\n');
  return data.length ? event : null;
}
