/** Replacements of views: what the service is asked (docs/replacing.md), and what is shown of its answers. */
import { call, path, query } from '../api/call';
import type { Column, Replacement, ReplacementPreview, RowDifference } from '../api/types';
import type { Relation } from '../relation/reading';
import { quoteName } from '../sql/statements';

/** Differences on a page of a preview. */
export const PAGE = 1000;

export async function listReplacements(signal: AbortSignal): Promise<Replacement[]> {
  return (await call<{ replacements: Replacement[] }>('/v1/replacements', { signal })).replacements;
}

export function makeReplacement(name: string, view: Relation, sql: string): Promise<Replacement> {
  const views = [{ name: quoteName(view.name), sql }];
  return call('/v1/replacements', { body: { name, views, dialect: view.dialect || 'postgres' } });
}

export function applyReplacement(name: string): Promise<{ epoch: number }> {
  return call(path('v1', 'replacements', quoteName(name), 'apply'), { method: 'POST' });
}

export async function dropReplacement(name: string): Promise<void> {
  await call(path('v1', 'replacements', quoteName(name)), { method: 'DELETE' });
}

/** A page of what a view would have more, or less. Pages of one epoch fit together. */
export function preview(name: string, view: string, epoch: number | null, start: number, signal: AbortSignal): Promise<ReplacementPreview> {
  const asked = { view: quoteName(view), as_of: epoch, start, limit: PAGE };
  return call(`${path('v1', 'replacements', quoteName(name), 'preview')}${query(asked)}`, { signal });
}

/** The columns of differences: those that the view would have, with the types that are known of them. */
export function columnsOf(differences: RowDifference[], known: Column[]): Column[] {
  const types = new Map(known.map((column) => [column.name, column.type]));
  return Object.keys(differences[0]?.row ?? {}).map((name) => ({ name, type: types.get(name) ?? '' }));
}

/** Those that concern a view, and the others. */
export function concerning(view: string, all: Replacement[]): [Replacement[], Replacement[]] {
  const concerns = (one: Replacement): boolean => one.views.some(({ name }) => name === view);
  return [all.filter(concerns), all.filter((one) => !concerns(one))];
}

/** A name that no replacement has. */
export function nameFor(view: string, all: Replacement[]): string {
  const base = `${view.toLowerCase().replace(/[^a-z0-9_]+/g, '_').replace(/^(?=\d)/, '_')}_new`;
  const taken = new Set(all.map((one) => one.name));
  let [name, number] = [base, 2];
  while (taken.has(name)) name = `${base}_${number++}`;
  return name;
}
