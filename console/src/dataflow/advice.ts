/** What costs an operator its time, and what can be done about it, in words. The first line that fits says it. */
import type { PlanNode } from '../api/types';

const ADVICE: [RegExp, string][] = [
  [/^group query/, 'answers each changed group again as a whole. count, sum, avg, min and max are kept up to date instead; or group more finely.'],
  [/^window/, 'answers what a change moves in its partition. Smaller partitions, or a frame that ends at the current row, make that less.'],
  [/^top/, 'orders the rows of each changed group. A smaller LIMIT, or a filter below it, makes that less.'],
  [/^cross join/, 'pairs all rows with all rows. An equality between the two sides lets a change look up only its partners.'],
  [/^(join|delta join|worst-case)/, 'looks up the partners of each change. A filter on either side, or a more selective equality, makes them fewer.'],
  [/^(outermost|inner) loop/, 'runs a change through the rounds of the recursion until nothing changes. A filter in the recursive term ends it earlier.'],
  [/^threshold/, 'counts the copies of each row, to pass it on once. Outside of recursions, UNION ALL or a query without DISTINCT needs no counts where rows are distinct anyway.'],
  [/^variable/, 'hands what a round has found to the next. A filter in the recursive term makes that less.'],
  [/^(sums|floats|float pairs|top) arrangement/, 'adds each change to the sums of its group. Fewer rows below it make that less.'],
  [/^(sums|reduce)/, 'computes the results of each changed group from its sums. Fewer changed groups make that less.'],
  [/^map/, 'computes its expressions for each changed row. A filter before it makes them fewer.'],
  [/^(arrangement|history)/, 'sorts the changes into what it holds. Fewer columns and fewer rows make that less.'],
  [/^unnest/, 'makes a row of each element of each changed list.'],
  [/^temporal/, 'waits for the moments at which rows come and go; each of them is a change.'],
];

export function adviceOf(node: PlanNode): string {
  return ADVICE.find(([kind]) => kind.test(node.operator))?.[1] ?? '';
}
