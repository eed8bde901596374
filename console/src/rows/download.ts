/** Rows as a file of the reader's machine. */
import type { Grid } from './grid';
import { csvLine } from './text';
import { writeExact, type Json } from '../api/exact';

const PIECE = 20_000;

export type FileFormat = 'csv' | 'json';

export function fileOf(grid: Grid, format: FileFormat): Blob {
  const pieces: string[] = [];
  if (format === 'csv') pieces.push(csvLine(grid.columns.map((column) => column.name)));
  let piece = '';
  for (let row = 0; row < grid.size; row += 1) {
    const values = grid.columns.map((_, column) => grid.cell(row, column));
    piece += format === 'csv' ? csvLine(values) : jsonLine(grid, values);
    if (row % PIECE === PIECE - 1) {
      pieces.push(piece);
      piece = '';
    }
  }
  pieces.push(piece);
  return new Blob(pieces, { type: format === 'csv' ? 'text/csv' : 'application/x-ndjson' });
}

export function download(grid: Grid, name: string, format: FileFormat): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(fileOf(grid, format));
  link.download = `${name}.${format === 'csv' ? 'csv' : 'ndjson'}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function jsonLine(grid: Grid, values: (Json | undefined)[]): string {
  const members = grid.columns.map((column, place) => `${JSON.stringify(column.name)}:${writeExact(values[place])}`);
  return `{${members.join(',')}}\n`;
}
