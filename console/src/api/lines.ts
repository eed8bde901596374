/** The lines of a response, as they arrive. */
export async function* lines(response: Response): AsyncGenerator<string> {
  if (!response.body) return;
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let pending = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      pending += decoder.decode(value, { stream: true });
      const found = pending.split('\n');
      pending = found.pop() ?? '';
      yield* found;
    }
    if (pending) yield pending;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
