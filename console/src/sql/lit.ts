/**
 * A query's text in pieces, each with the operators that come from it: lit with them, and they with it.
 *
 * The service counts characters of the text as it is stored; the page shows it laid out. Both have the same
 * characters but for blanks, so places are counted without these.
 */
import type { PlanNode, Span } from '../api/types';

export interface Piece {
  text: string;
  /** The operators that come from the piece; those of the shortest part first. */
  nodes: string[];
}

interface Part {
  node: string;
  from: number;
  to: number;
}

/** The pieces of `shown`, a layout of `sql`, for the spans that plan nodes have in `sql`. */
export function piecesOf(sql: string, shown: string, nodes: PlanNode[]): Piece[] {
  const counted = countsBefore(sql);
  const parts = nodes.flatMap((node) => (node.spans ?? []).map((span) => partOf(node.id, span, counted)));
  const ends = [...new Set(parts.flatMap(({ from, to }) => [from, to]))].sort((a, b) => a - b);
  const pieces: Piece[] = [];
  let [count, next, text] = [0, 0, ''];
  const close = (upTo: number): void => {
    const at = upTo - 0.5;
    const here = parts.filter(({ from, to }) => from < at && at < to).sort((a, b) => a.to - a.from - (b.to - b.from));
    const nodes = [...new Set(here.map((part) => part.node))];
    const kept = nodes.length ? text.trimEnd() : text;
    if (kept) pieces.push({ text: kept, nodes });
    if (kept.length < text.length) pieces.push({ text: text.slice(kept.length), nodes: [] });
    text = '';
  };
  for (const character of shown) {
    const isBlank = /\s/.test(character);
    while (!isBlank && ends[next] !== undefined && (ends[next] ?? 0) <= count) {
      if (text.trim()) close(count);
      next += 1;
    }
    text += character;
    if (!isBlank) count += 1;
  }
  close(count);
  return pieces;
}

/** The number of characters that are no blanks before each place of a text, counted as the service counts. */
function countsBefore(text: string): number[] {
  const counts: number[] = [];
  let count = 0;
  for (const character of text) {
    counts.push(count);
    if (!/\s/.test(character)) count += 1;
  }
  return [...counts, count];
}

function partOf(node: string, { start, end }: Span, counts: number[]): Part {
  const last = counts.at(-1) ?? 0;
  return { node, from: counts[start] ?? last, to: counts[end] ?? last };
}
