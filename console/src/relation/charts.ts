/** The rows of a grid as the numbers of a chart. */
import type { Json } from '../api/exact';
import type { Grid } from '../rows/grid';
import { isNumeric, textOf } from '../rows/text';

export const KINDS = ['bar', 'line', 'scatter', 'number'] as const;
export type Kind = (typeof KINDS)[number];

/** `y` is empty for the number of rows. */
export interface Choice {
  kind: Kind;
  x: string;
  y: string;
}

export interface ChartData {
  x: number[];
  y: (number | null)[];
  /** The names of the places on the x axis if its column has no numbers. */
  labels: string[] | null;
  time: boolean;
  number: string;
  cutOff: boolean;
}

const MOST = 20_000;
const MOST_BARS = 200;

export function chartData(grid: Grid, choice: Choice): ChartData {
  const at = (name: string): number => grid.columns.findIndex((column) => column.name === name);
  const [x, y] = [at(choice.x), at(choice.y)];
  const type = grid.columns[x]?.type ?? '';
  const time = /^(DATE|TIMESTAMP)/.test(type);
  const named = !isNumeric(type) && !time;
  const most = choice.kind === 'bar' || named ? MOST_BARS : MOST;
  const points: { x: number; y: number | null; label: string }[] = [];
  for (let row = 0; row < Math.min(grid.size, choice.kind === 'number' ? 0 : most); row += 1) {
    const value = grid.cell(row, x);
    const across = named ? row : time ? Date.parse(zoned(textOf(value))) / 1000 : Number(value);
    if (value !== null && Number.isFinite(across)) points.push({ x: across, y: y < 0 ? 1 : numberOf(grid.cell(row, y)), label: textOf(value) });
  }
  points.sort((a, b) => a.x - b.x);
  return {
    x: points.map((point, place) => (named ? place : point.x)),
    y: points.map((point) => point.y),
    labels: named ? points.map((point) => point.label) : null,
    time,
    number: total(grid, y),
    cutOff: choice.kind !== 'number' && grid.size > most,
  };
}

function numberOf(value: Json | undefined): number | null {
  const number = value === null || value === undefined ? NaN : Number(value);
  return Number.isFinite(number) ? number : null;
}

/** The sum of a column, exact for integers; the number of rows without one. */
function total(grid: Grid, column: number): string {
  const format = new Intl.NumberFormat('en-US', { maximumFractionDigits: 6 });
  if (column < 0) return format.format(grid.size);
  let whole = 0n;
  let rest = 0;
  for (let row = 0; row < grid.size; row += 1) {
    const value = grid.cell(row, column);
    if (typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value))) whole += BigInt(value);
    else rest += numberOf(value) ?? 0;
  }
  return rest ? format.format(Number(whole) + rest) : format.format(whole);
}

/** A moment without a zone is one of UTC here, so that the axis does not depend on the reader's clock. */
function zoned(text: string): string {
  return /T/.test(text) && !/Z$/.test(text) ? `${text}Z` : text;
}
