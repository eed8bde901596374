/**
 * Columns of Arrow as the JSON of the contract has their values (docs/http.md, "Values"), so that a table may hold
 * rows of both. The converters go by the SQL type that the service names; a type that is not here is read as JSON.
 */
import { RecordBatchReader, Table, type RecordBatch, type Vector } from 'apache-arrow';
import { parseExact, type Json } from '../api/exact';

type Read = (vector: Vector, row: number) => Json;

const READERS: [RegExp, Read][] = [
  [/^(SMALLINT|INTEGER)$/, (vector, row) => vector.get(row) as Json],
  [/^BIGINT$/, (vector, row) => integer(vector.get(row) as bigint | null)],
  [/^(REAL|DOUBLE PRECISION)$/, (vector, row) => double(vector.get(row) as number | null)],
  [/^(BOOLEAN|TEXT|VARCHAR.*|CHAR.*|UUID|TIMETZ|BIT)$/, (vector, row) => vector.get(row) as Json],
  [/^NUMERIC\(\d+, ?(\d+)\)$/, (vector, row) => decimal(vector.get(row) as Uint32Array | null, scaleOf(vector))],
  [/^JSON$/, (vector, row) => json(vector.get(row) as string | null)],
  [/^DATE$/, (vector, row) => raw(vector, row, (days) => date(days))],
  [/^TIME$/, (vector, row) => raw(vector, row, (micros) => time(micros))],
  [/^TIMESTAMP$/, (vector, row) => raw(vector, row, (micros) => moment(micros))],
  [/^TIMESTAMPTZ$/, (vector, row) => raw(vector, row, (micros) => `${moment(micros)}Z`)],
];

export function readerOf(type: string): Read | null {
  return READERS.find(([pattern]) => pattern.test(type))?.[1] ?? null;
}

/** The batches of an Arrow stream as they arrive. */
export async function* batches(response: Response): AsyncGenerator<RecordBatch> {
  const reader = await RecordBatchReader.from(response);
  for await (const batch of reader) yield batch;
}

export function tableOf(all: RecordBatch[]): Table {
  return new Table(all);
}

function integer(value: bigint | null): Json {
  if (value === null) return null;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

function double(value: number | null): Json {
  if (value === null || Number.isFinite(value)) return value;
  return Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity';
}

function json(text: string | null): Json {
  return text === null ? null : parseExact(text);
}

function scaleOf(vector: Vector): number {
  return (vector.type as unknown as { scale: number }).scale;
}

/** A decimal of 128 bits, its least word first, with as many decimals as the scale. */
function decimal(words: Uint32Array | null, scale: number): Json {
  if (words === null) return null;
  let value = 0n;
  for (let word = words.length - 1; word >= 0; word -= 1) value = (value << 32n) | BigInt(words[word] ?? 0);
  value = BigInt.asIntN(words.length * 32, value);
  const digits = (value < 0n ? -value : value).toString().padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  return `${value < 0n ? '-' : ''}${whole}${scale ? `.${digits.slice(-scale)}` : ''}`;
}

/** The stored number of a moment: the vector's own getter would round it to milliseconds. */
function raw(vector: Vector, row: number, write: (value: bigint) => string): Json {
  if (!vector.isValid(row)) return null;
  for (const data of vector.data) {
    if (row < data.length) {
      const values = data.values as BigInt64Array | Int32Array;
      return write(BigInt(values[row] ?? 0));
    }
    row -= data.length;
  }
  return null;
}

const DAY = 86_400_000_000n;

/** The proleptic Gregorian date of days since 1970, by Howard Hinnant's `civil_from_days`. */
export function date(days: bigint): string {
  const z = days + 719_468n;
  const era = floor(z, 146_097n);
  const ofEra = z - era * 146_097n;
  const yearOfEra = (ofEra - ofEra / 1460n + ofEra / 36_524n - ofEra / 146_096n) / 365n;
  const ofYear = ofEra - (365n * yearOfEra + yearOfEra / 4n - yearOfEra / 100n);
  const shifted = (5n * ofYear + 2n) / 153n;
  const day = ofYear - (153n * shifted + 2n) / 5n + 1n;
  const month = shifted < 10n ? shifted + 3n : shifted - 9n;
  const year = yearOfEra + era * 400n + (month <= 2n ? 1n : 0n);
  return `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`;
}

export function time(micros: bigint): string {
  const seconds = micros / 1_000_000n;
  const rest = micros % 1_000_000n;
  const clock = [seconds / 3600n, (seconds / 60n) % 60n, seconds % 60n].map((part) => pad(part, 2)).join(':');
  return rest ? `${clock}.${pad(rest, 6)}` : clock;
}

export function moment(micros: bigint): string {
  const days = floor(micros, DAY);
  return `${date(days)}T${time(micros - days * DAY)}`;
}

function floor(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  return value % by < 0n ? quotient - 1n : quotient;
}

function pad(value: bigint, width: number): string {
  return value.toString().padStart(width, '0');
}
