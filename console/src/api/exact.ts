/**
 * JSON without loss: integers beyond 2^53 become BigInt, where JSON.parse would round them.
 *
 * A text without a run of sixteen digits has none, and is parsed as usual.
 */
const LONG = /\d{16}/;
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const MARK = '\u{F0000}';

export type Json = null | boolean | number | bigint | string | Json[] | { [member: string]: Json };

export function parseExact(text: string): Json {
  if (!LONG.test(text)) return JSON.parse(text) as Json;
  const marked = text.replace(TOKENS, (token) =>
    /^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token)) ? `"${MARK}${token}"` : token,
  );
  return JSON.parse(marked, (_, value) =>
    typeof value === 'string' && value.startsWith(MARK) && /^-?\d+$/.test(value.slice(MARK.length))
      ? BigInt(value.slice(MARK.length))
      : value,
  ) as Json;
}

/** JSON text of a value that `parseExact` may have made. */
export function writeExact(value: Json | undefined): string {
  if (typeof value === 'bigint') return value.toString();
  if (Array.isArray(value)) return `[${value.map(writeExact).join(',')}]`;
  if (value !== null && typeof value === 'object') {
    const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${writeExact(member)}`);
    return `{${members.join(',')}}`;
  }
  return JSON.stringify(value ?? null);
}
