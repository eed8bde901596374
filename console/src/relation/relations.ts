/** A relation of the catalog in one shape, whether it is a table or a view. A branch has those of main. */
import type { Table, View } from '../api/types';
import type { Relation } from './reading';

export function relationOf(name: string, tables: Table[], views: View[], branch: string | null): Relation | null {
  const table = tables.find((one) => one.name === name);
  if (table) {
    const { columns, primary_key: key, constraints = [], comment = '' } = table;
    return { kind: 'table', branch, name, columns, key, constraints, comment, sql: '', dialect: '', state: 'ready', reason: '', share: null, notices: [] };
  }
  const view = views.find((one) => one.name === name);
  if (!view) return null;
  const { columns, sql, dialect, state, reason, comment = '', progress, notices = [] } = view;
  return {
    kind: 'view', branch, name, columns, key: [], constraints: [], comment, sql, dialect, state, reason: reason ?? '',
    share: progress?.share ?? null, notices,
  };
}
