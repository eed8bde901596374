/** Values as the tables show them, and as they are copied and written to files. */
import { writeExact, type Json } from '../api/exact';

const NUMERIC = /^(SMALLINT|INTEGER|BIGINT|REAL|DOUBLE PRECISION|NUMERIC)/;

export function isNumeric(type: string): boolean {
  return NUMERIC.test(type) && !type.endsWith('[]');
}

/** The text of a value: a text as it is, everything else as JSON writes it. Null is an empty text. */
export function textOf(value: Json | undefined): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : writeExact(value);
}

/** Compares two values of a column. Nulls come last; numbers are compared as such, also those sent as texts. */
export function compare(a: Json | undefined, b: Json | undefined, numeric: boolean): number {
  const noA = a === null || a === undefined;
  const noB = b === null || b === undefined;
  if (noA || noB) return Number(noA) - Number(noB);
  if (numeric) return compareNumbers(a, b);
  const left = textOf(a);
  const right = textOf(b);
  return left < right ? -1 : left > right ? 1 : 0;
}

function compareNumbers(a: Json, b: Json): number {
  const [left, right] = [Number(a), Number(b)];
  if (Number.isNaN(left) || Number.isNaN(right)) return Number(Number.isNaN(left)) - Number(Number.isNaN(right));
  if (left !== right) return left < right ? -1 : 1;
  return typeof a === 'number' && typeof b === 'number' ? 0 : compareDigits(textOf(a), textOf(b));
}

/** Compares numbers that are one as doubles: their digits, exactly. */
function compareDigits(a: string, b: string): number {
  if (!/^-?\d+(\.\d+)?$/.test(a) || !/^-?\d+(\.\d+)?$/.test(b)) return 0;
  const scale = Math.max(...[a, b].map((text) => text.split('.')[1]?.length ?? 0));
  const [left, right] = [a, b].map((text) => {
    const [whole = '', part = ''] = text.split('.');
    return BigInt(whole + part.padEnd(scale, '0'));
  });
  return left === right || left === undefined || right === undefined ? 0 : left < right ? -1 : 1;
}

/** A field of CSV (RFC 4180): NULL is empty, an empty text is two quotes. */
export function csvField(value: Json | undefined): string {
  if (value === null || value === undefined) return '';
  const text = textOf(value);
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csvLine(values: (Json | undefined)[]): string {
  return values.map(csvField).join(',') + '\n';
}

/** Cells for the clipboard: a row a line, columns between tabs, as spreadsheets take them. */
export function clipText(rows: (Json | undefined)[][]): string {
  return rows.map((row) => row.map((value) => textOf(value).replace(/[\t\r\n]+/g, ' ')).join('\t')).join('\n');
}

const COUNTED = new Intl.NumberFormat('en-US');

export function counted(number: number): string {
  return COUNTED.format(number);
}

export function bytes(size: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${unit === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${units[unit]}`;
}

export function duration(milliseconds: number): string {
  if (milliseconds < 1) return `${Math.round(milliseconds * 1000)} µs`;
  if (milliseconds < 1000) return `${milliseconds < 10 ? milliseconds.toFixed(1) : Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}
