import { describe, expect, it } from 'vitest';
import type { Fact, Reason } from '../api/types';
import { causesOf, factsOf, isLeftOut, moreOf, originOf, relationOf, roundOf } from './reasons';

const of_table = (package_: string, needs: string): Reason => ({
  rule: 'row of table depends', table: 'depends', row: { package: package_, needs },
});
const facts = factsOf([
  { fact: 1, rule: 'row of reached', row: { package: 'nginx' }, see: 2 },
  { fact: 2, rule: 'reached, round 3', row: { package: 'nginx' }, of: [
    { rule: 'row', row: { package: 'nginx' }, of: [{ rule: 'row of reached', row: { package: 'gd' }, see: 3 }, of_table('nginx', 'gd')] },
  ] },
  { fact: 3, rule: 'reached, round 2', row: { package: 'gd' }, of: [of_table('gd', 'webp')], more: 4 },
] as Fact[]);

describe('reasons', () => {
  const top: Reason = { rule: 'row of view affected', row: { package: 'nginx' }, see: 1 };
  it('have the facts in the place of their numbers, and the round', () => {
    const [recursive] = causesOf(top, facts);
    expect(recursive?.rule).toBe('row of reached');
    expect(roundOf(top, facts)).toBeNull();
    expect(recursive && roundOf(recursive, facts)).toBe(3);
    const causes = recursive ? causesOf(recursive, facts) : [];
    expect(causes.map((cause) => cause.rule)).toEqual(['row of reached', 'row of table depends']);
    expect(causes[0] && roundOf(causes[0], facts)).toBe(2);
    expect(causes[0] && moreOf(causes[0], facts)).toBe(4);
    expect(causesOf(of_table('a', 'b'), facts)).toEqual([]);
  });
  it('keep a level that has another row', () => {
    const group: Reason = { rule: 'group', row: { n: 1 }, of: [{ rule: 'row', row: { a: 1 }, of: [of_table('a', 'b')] }], more: 2 };
    expect(causesOf(group, facts)).toHaveLength(1);
    expect(causesOf(group, facts)[0]?.rule).toBe('row');
    expect(moreOf(group, facts)).toBe(2);
  });
  it('say what the limits have left out', () => {
    const cut: Reason = { rule: 'row of reached', row: { package: 'x' }, see: 99 };
    expect(isLeftOut(cut, facts)).toBe(true);
    expect(isLeftOut(top, facts)).toBe(false);
    expect(causesOf(cut, facts)).toEqual([]);
  });
  it('lead to tables and views, not to names within a query', () => {
    expect(relationOf(of_table('a', 'b'))).toBe('depends');
    expect(relationOf(top)).toBe('affected');
    expect(relationOf({ rule: 'row of view a\nb' })).toBe('a\nb');
    expect(relationOf({ rule: 'row of reached' })).toBeNull();
  });
});

it('an origin is told by what is known of it', () => {
  const none = { idempotency_key: null, load: null, source: null, merged: null };
  expect(originOf({ ...none, merged: 'b' })).toBe('the merge of branch b');
  expect(originOf({ ...none, load: 'l1' })).toBe('load l1');
  expect(originOf({ ...none, source: 's' })).toBe('source s');
  expect(originOf({ ...none, idempotency_key: 'k' })).toContain('key k');
  expect(originOf(null)).toBe(originOf(none));
});
