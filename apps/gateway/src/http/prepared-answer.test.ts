import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { chooseEncoding, prepareAnswer } from './prepared-answer.ts';

const LONG = { text: 'the same words again and again '.repeat(200) };
const envelope = JSON.stringify({ success: true, data: LONG });

test('every form carries the same envelope', () => {
  const answer = prepareAnswer(LONG);
  expect(answer.variant('identity').body.toString()).toBe(envelope);
  expect(gunzipSync(answer.variant('gzip').body).toString()).toBe(envelope);
  expect(brotliDecompressSync(answer.variant('br').body).toString()).toBe(envelope);
});

test('each form has a tag of its own, and the same content always has the same tags', () => {
  const tags = (['identity', 'gzip', 'br'] as const).map(
    (encoding) => prepareAnswer(LONG).variant(encoding).etag,
  );
  expect(new Set(tags).size).toBe(3);
  expect(prepareAnswer({ ...LONG }).variant('gzip').etag).toBe(tags[1]);
  expect(prepareAnswer({ text: 'other' }).variant('identity').etag).not.toBe(tags[0]);
});

test('a form is compressed once', () => {
  const answer = prepareAnswer(LONG);
  expect(answer.variant('br').body).toBe(answer.variant('br').body);
});

test('what fits a packet anyway is not compressed', () => {
  expect(prepareAnswer({ a: 1 }).variant('gzip').encoding).toBe('identity');
});

test.each([
  ['the tag', (tag: string) => tag, true],
  ['a weak form of the tag', (tag: string) => `W/${tag}`, true],
  ['a list with the tag', (tag: string) => `"x", ${tag} ,"y"`, true],
  ['anything', () => '*', true],
  ['another tag', () => '"x"', false],
  ['the tag without quotes', (tag: string) => tag.slice(1, -1), false],
  ['nothing', () => '', false],
])('If-None-Match with %s', (_name, header, matches) => {
  const answer = prepareAnswer(LONG);
  expect(answer.matchingTag(header(answer.variant('gzip').etag)) !== undefined).toBe(matches);
});

test.each([
  ['', 'identity'],
  ['identity', 'identity'],
  ['gzip', 'gzip'],
  ['gzip, deflate, br', 'br'],
  ['br;q=0.5, gzip;q=0.9', 'gzip'],
  ['br;q=0, gzip;q=0', 'identity'],
  ['*', 'br'],
  ['*;q=0', 'identity'],
  ['GZIP', 'gzip'],
  ['identity;q=1, gzip;q=0.2', 'identity'],
  ['gzip;q=nonsense', 'identity'],
  ['zstd', 'identity'],
])('Accept-Encoding %j chooses %s', (header, encoding) => {
  expect(chooseEncoding(header)).toBe(encoding);
});
