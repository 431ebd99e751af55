import { describe, expect, it } from 'vitest';
import { explainUnsafePattern } from './pattern-safety.ts';

describe('explainUnsafePattern', () => {
  it.each([
    '^[0-9]{18}$',
    '^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$',
    '^([0-9]{1,6}-)?[0-9]{2,10}\\/[0-9]{4}$',
    '^(CH|LI)[0-9]{2}$',
    '^\\+?[0-9]{10,15}$',
    '^[\\]\\-]{1,3}$',
  ])('accepts %s', (pattern) => {
    expect(explainUnsafePattern(pattern, 40)).toBeUndefined();
  });

  // Proves trap 30.
  it.each([
    ['[0-9]{4}', 'anchored'],
    ['^[0-9]{4}\\$', 'anchored'],
    ['^a$|b$', 'anchor inside'],
    ['^a|b$', 'escapes the anchors'],
    ['^a+$', 'without bound'],
    ['^a*$', 'without bound'],
    ['^[0-9]{2,}$', 'Infinity'],
    ['^([0-9]{1,5}){1,5}$', 'repeats a group'],
    ['^(a|a){20}$', 'repeats a group'],
    ['^(a{1,9})+$', 'without bound'],
    ['^(?=a)a$', 'looks around'],
    ['^(?<n>a)$', 'looks around'],
    ['^(a)\\1$', 'refers back'],
    ['^[0-9]{1,41}$', 'length cap'],
    ['^[a-z$', 'compile'],
    ['^[a-z]{1,40}[a-z]{1,40}[a-z]{1,40}[a-z]{1,40}$', 'ways'],
  ])('refuses %s', (pattern, why) => {
    expect(explainUnsafePattern(pattern, 40)).toContain(why);
  });
});
