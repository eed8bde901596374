import { expect, it } from 'vitest';
import { placeOf } from '../state/router.svelte';
import { linked, linkOf } from './row_link';

it('a link to a row leads to that row, whatever its name and values are', () => {
  const row = { id: 9007199254740993n, 'a&b=#?': null, text: 'ü "x" %41 +' };
  const place = placeOf(linkOf('a/b "ü"', row, 4));
  expect([place.page, place.name]).toEqual(['relation', 'a/b "ü"']);
  expect(linked(place.parameters)).toEqual({ row, epoch: 4 });
  expect(linkOf('t', undefined, null)).toBe('#/relation/t');
});

it('nothing is made of what is no link', () => {
  for (const text of ['', 'row=1', 'row=[1]', 'row=null', 'row={', 'row="x"', 'epoch=-1', 'epoch=1e3', 'epoch=']) {
    expect(linked(new URLSearchParams(text))).toEqual({ row: null, epoch: null });
  }
  expect(linked(new URLSearchParams('epoch=1000000000007')).epoch).toBe(1_000_000_000_007);
});
