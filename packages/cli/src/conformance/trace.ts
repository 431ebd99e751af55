import type { Answer, Delivery } from './delivery.ts';

/** Requests and answers of a run, for a bug report or an artefact of CI: no secret is ever in it. */
export interface Trace {
  /** The check that the following entries belong to. */
  readonly for: (id: string) => Trace;
  delivery(url: URL, delivery: Delivery, answer: Answer, text: string): void;
  call(call: TracedCall): void;
  entries(): readonly unknown[];
}

export interface TracedCall {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly status: number | string;
  readonly answer: string;
  readonly ms: number;
}

const LONGEST_TEXT = 2_000;
const SECRET_HEADERS = /^(x-api-key|authorization|cookie|set-cookie|proxy-authorization)$/i;
const SIGNATURE_HEADERS = /^x-service-signature/i;
/** Fields of bodies that are keys, signatures or personal. */
const SECRET_FIELDS =
  /"((?:[a-z_]*(?:secret|signature|private_key|api_key|password|token))|email|iban|account_number|full_name|first_name|last_name|phone_number)"\s*:\s*"[^"]*"/gi;

export function createTrace(secrets: readonly string[]): Trace {
  const entries: unknown[] = [];
  const clean = (text: string) => redact(text, secrets);
  const of = (check: string): Trace => ({
    for: of,
    delivery(url, { method = 'POST', headers, body }, answer, text) {
      const bytes = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
      const { kind, ms, ...rest } = answer;
      entries.push({
        check,
        request: {
          method,
          url: clean(publicUrl(url)),
          headers: cleanHeaders(headers, clean),
          bytes,
          body: clean(Buffer.from(body).toString('utf8', 0, LONGEST_TEXT)),
        },
        answer: { kind, ms, ...rest, body: clean(text.slice(0, LONGEST_TEXT)) },
      });
    },
    call({ method, path, headers, body, status, answer, ms }) {
      entries.push({
        check,
        request: {
          method,
          path: clean(path),
          headers: cleanHeaders(headers, clean),
          body: clean(body.slice(0, LONGEST_TEXT)),
        },
        answer: { status, ms, body: clean(answer.slice(0, LONGEST_TEXT)) },
      });
    },
    entries: () => entries,
  });
  return of('');
}

/** An address without what may be a secret in it: user, password and the values of its query. */
export function publicUrl(url: URL): string {
  const shown = new URL(url);
  shown.username = '';
  shown.password = '';
  for (const name of new Set(shown.searchParams.keys())) shown.searchParams.set(name, 'redacted');
  return shown.href;
}

function redact(text: string, secrets: readonly string[]): string {
  const without = secrets
    .filter((secret) => secret !== '')
    .reduce((left, secret) => left.replaceAll(secret, '[redacted]'), text);
  return without.replaceAll(SECRET_FIELDS, '"$1":"[redacted]"');
}

function cleanHeaders(
  headers: Readonly<Record<string, string>>,
  clean: (text: string) => string,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      if (SECRET_HEADERS.test(name)) return [name, '[redacted]'];
      return [name, SIGNATURE_HEADERS.test(name) ? `${value.slice(0, 15)}…` : clean(value)];
    }),
  );
}
