import { expect, it } from 'vitest';
import { waitPreference } from './prefer.js';

it.each([
  [undefined, undefined],
  ['', undefined],
  ['wait=5', 5],
  ['Wait = 5', 5],
  ['respond-async, wait=10; foo="bar"', 10],
  ['wait="7"', 7],
  ['wait=0', 0],
  ['wait=3600', 60],
  ['wait=99999999999999', undefined],
  ['wait=-1', undefined],
  ['wait=1.5', undefined],
  ['wait', undefined],
  ['wait=5, wait=9', 5],
  ['await=5', undefined],
])('reads the wait preference of %j as %j', (header, seconds) => {
  expect(waitPreference(header)).toBe(seconds);
});
