import { describe, expect, it } from 'vitest';
import { eventOf, serverEvents } from './events';
import { parseExact, writeExact } from './exact';

describe('exact JSON', () => {
  it('keeps integers that a double would round', () => {
    const text = '{"a":[9007199254740993,-9223372036854775807,1,0.1,"9007199254740993","x\\"12345678901234567"],"b":null}';
    expect(writeExact(parseExact(text))).toBe(text);
    expect(parseExact('[9007199254740993]')).toEqual([9007199254740993n]);
  });
  it('is JSON.parse for all else', () => {
    for (const value of [null, true, [1.5e300, -0.25], { a: { b: ['é', ''] } }, 'q"\\'])
      expect(parseExact(JSON.stringify(value))).toEqual(value);
  });
  it('rounds no number that has a fraction or an exponent', () => {
    expect(parseExact('[1234567890123456.75, 1e21]')).toEqual([1234567890123456.75, 1e21]);
  });
});

describe('server-sent events', () => {
  const stream = (pieces: string[]): ReadableStream<Uint8Array> =>
    new ReadableStream({
      start(controller) {
        for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
        controller.close();
      },
    });
  const text = 'id: 3\nevent: changes\ndata: [{"é":1}]\n\n: alive\n\nid: 4\nevent: changes\ndata: []\n\nid: 5\nda';

  it('are the same however the bytes are cut, and a broken one is dropped', async () => {
    for (let size = 1; size < 12; size += 1) {
      const bytes = [...text];
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.slice(at * size, at * size + size).join(''));
      const found = [];
      for await (const event of serverEvents(stream(pieces))) found.push(event);
      expect(found).toEqual([
        { id: '3', event: 'changes', data: '[{"é":1}]' }, null, { id: '4', event: 'changes', data: '[]' },
      ]);
    }
  });
  it('may have data of several lines', () => {
    expect(eventOf('data: a\ndata: b')).toEqual({ id: '', event: 'message', data: 'a\nb' });
  });
});
