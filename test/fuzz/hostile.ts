import type { Random } from './random.ts';

/** Requests that are wrong as HTTP or as JSON, before anybody looks at what they ask. */

/** More than BODY_LIMIT_BYTES. */
export const OVERSIZED = 1_100_000;

const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;

/** Bodies that are no JSON, or JSON that no handler expects. */
export function breakText(random: Random, text: string): string {
  switch (random.below(14)) {
    case 0:
      return text.slice(0, random.below(text.length + 1));
    case 1:
      return `${text}}`;
    case 2:
      return random.pick(['{', '[', 'null', '', '\u0000', '"text"', '0', 'NaN', '\ufeff{}']);
    case 3:
      return '['.repeat(5_000);
    case 4:
      return nested(random.pick([100, 1_000, 10_000]));
    case 5:
      return text.replace('{', `{"extra":${nested(2_000)},`);
    case 6:
      return text.replace('{', '{"__proto__":{"polluted":true},');
    case 7:
      return text.replace('{', '{"constructor":{"prototype":{"polluted":true}},');
    case 8:
      // The same name twice: the last one counts, or the request is refused, but nothing in between.
      return text.replace('{', `{${text.slice(1, -1) || '"a":1'},`);
    case 9:
      return text.replace(/:"[^"]*"/, `:"${'\\u0000'.repeat(50)}"`);
    case 10:
      return text.replace(/:[^,}]+/, `:1${'0'.repeat(400)}`);
    case 11:
      return `[${Array.from({ length: 2_000 }, () => text.slice(0, 100).length).join(',')}]`;
    case 12:
      return random.chance(20) ? `{"a":"${'x'.repeat(OVERSIZED)}"}` : text;
    default:
      return text;
  }
}

/** What a caller is known by, to be sent where it does not belong: it must not come back in a log. */
function secretOf(headers: Readonly<Record<string, string>>): string {
  return headers['x-api-key'] ?? headers.authorization?.replace('Bearer ', '') ?? 'cw_test_none';
}

export function hostileHeaders(
  random: Random,
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  switch (random.below(12)) {
    case 0:
      return { 'content-type': random.pick(['text/plain', 'application/xml', 'multipart/form-data', 'x']) };
    case 1:
      return {
        'content-type': random.pick([
          'application/json; charset=utf-16',
          'APPLICATION/JSON',
          'application/json;;',
        ]),
      };
    case 2:
      return {
        'idempotency-key': random.pick(['one', 'two', 'x'.repeat(255), 'x'.repeat(256), ' ', '', '\u00e9']),
      };
    case 3:
      return { 'x-request-id': random.pick([secretOf(own), 'x'.repeat(129), '{"a":1}', '..', '\u00ff']) };
    case 4:
      return { 'if-none-match': random.pick(['*', '"x"', 'W/"', ',', 'x'.repeat(1_000)]) };
    case 5:
      return { accept: random.pick(['*/*', 'text/html', 'application/xml;q=2', ';;;', 'x'.repeat(1_000)]) };
    case 6:
      return { authorization: random.pick(['Bearer', 'Basic Og==', 'Bearer  x', `bearer ${secretOf(own)}`]) };
    case 7:
      return { 'x-forwarded-for': random.pick(['127.0.0.1', '::1', 'x'.repeat(500), "'; DROP"]) };
    case 8:
      return { origin: random.pick(['null', 'https://evil.example', 'x', 'file://']) };
    case 9:
      return { 'last-event-id': random.pick(['-1', '9'.repeat(40), 'x', '0']) };
    case 10:
      return {
        'x-http-method-override': 'DELETE',
        'content-encoding': random.pick(['gzip', 'br', 'identity']),
      };
    default:
      return {};
  }
}

/** The query as text, with parts that are none, names that come twice, and what a careless caller puts there. */
export function hostileQuery(
  random: Random,
  query: URLSearchParams,
  own: Readonly<Record<string, string>>,
): string {
  const text = query.toString();
  const [first] = query.keys();
  const added = [
    '%',
    'a=%ff',
    '&&&',
    'limit=1&limit=2',
    '__proto__[x]=1',
    'constructor.prototype=1',
    `${first ?? 'page'}[]=1&${first ?? 'page'}=2`,
    `api_key=${encodeURIComponent(secretOf(own))}`,
    Array.from({ length: 300 }, (_, n) => `p${n}=${n}`).join('&'),
    'limit=%00',
    '',
  ];
  return [text, random.pick(added)].filter((part) => part !== '').join('&');
}
