import { CausewayError } from '@causeway/protocol';
import { describe, expect, it } from 'vitest';
import { frameAncestors, readOrigins } from './widget-origins.ts';

const problems = (given: string[], sandbox = false): string[] => {
  try {
    readOrigins(given, sandbox);
    return [];
  } catch (error) {
    if (!(error instanceof CausewayError)) throw error;
    return (error.details.fields as { path: string; message: string }[]).map(({ path }) => path);
  }
};

describe('origins that may show the widget', () => {
  it.each([
    ['https://Shop.Example', 'https://shop.example'],
    ['https://shop.example:443/', 'https://shop.example'],
    ['https://shop.example:8443', 'https://shop.example:8443'],
    ['https://*.shop.example', 'https://*.shop.example'],
    [' https://bücher.example '.replace('ü', 'u'), 'https://bucher.example'],
    ['https://[2001:db8::1]:8443', 'https://[2001:db8::1]:8443'],
  ])('%s is kept as %s', (given, kept) => {
    expect(readOrigins([given, given], false)).toEqual([kept]);
  });

  it.each([
    'http://shop.example',
    'https://shop.example/path',
    'https://shop.example?',
    'https://shop.example#x',
    'https://user@shop.example',
    'https://*',
    'https://*.com',
    'https://*.*.example',
    'https://shop.*',
    'https://*.127.0.0.1',
    'shop.example',
    '*',
    "'self'",
    'data:',
    'https:',
    "https://shop.example; script-src 'unsafe-inline'",
    'https://shop.example https://other.example',
    'https://shop.example\\@other.example',
    'https://shop_1.example',
    'http://localhost:3000',
    '',
  ])('%s is refused', (given) => {
    expect(problems(['https://right.example', given])).toEqual(['origins.1']);
  });

  it('a sandbox takes pages of one’s own machine, and those alone without TLS', () => {
    const local = ['http://localhost:3000', 'http://127.0.0.1', 'http://[::1]:8080'];
    expect(readOrigins(local, true)).toEqual(local);
    expect(problems(['http://localhost.shop.example', 'http://10.0.0.1'], true)).toEqual([
      'origins.0',
      'origins.1',
    ]);
  });

  it('are fifty at most', () => {
    const many = Array.from({ length: 51 }, (_, n) => `https://shop${n}.example`);
    expect(problems(many)).toEqual(['origins']);
    expect(readOrigins(many.slice(1), false)).toHaveLength(50);
  });

  it('are the sources of frame-ancestors; without any only our own pages may show it', () => {
    expect(frameAncestors([], false)).toBe("'self'");
    expect(frameAncestors(['https://shop.example', 'https://*.shop.example'], false)).toBe(
      "https://shop.example https://*.shop.example 'self'",
    );
    expect(frameAncestors([], true)).toBe("http://localhost:* http://127.0.0.1:* 'self'");
  });
});
