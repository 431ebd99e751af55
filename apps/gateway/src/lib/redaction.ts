import { inspect } from 'node:util';

/** What stands in place of a value that must not be logged. */
export const REDACTED = '[redacted]';

// Caps keep one careless log call from costing megabytes; what is cut off is said so.
const DEPTH_MAX = 8;
const ENTRIES_MAX = 100;
const NODES_MAX = 1000;
const TEXT_MAX = 4096;
const TEXT_MASKED_MAX = 2 * TEXT_MAX;
const KEY_CACHE_MAX = 2000;

// Keys are compared in lower case without separators: x-api-key, api_key and apiKey are one.
const SENSITIVE_PARTS =
  /secret|password|passphrase|mnemonic|privatekey|apikey|signerkey|encryptionkey|operatorkey|widgetkey|vendorkey|cookie|signature|accesstoken|refreshtoken|authtoken|bearertoken|databaseurl|databasedirecturl|connectionstring|email|phone|firstname|lastname|middlename|fullname|nativename|recipientname|sendername|payername|holdername|beneficiaryname|dateofbirth|birthdate|idnumber|passport|registrationnumber|accountnumber|routingnumber|cardnumber|iban|postalcode|streetaddress|addressline|homeaddress|nationality|gender/;
const SENSITIVE_WHOLE = new Set([
  ...['authorization', 'proxyauthorization', 'dob', 'ssn', 'pin'],
  // Addresses of chain nodes carry the provider's key; the public one may be seen.
  ...['rpcurl', 'rpcurls', 'chainrpcurls'],
]);
// Personal as a field, but everyday words inside a sentence. `detail` and `where` are PostgreSQL's: they quote row values.
const SENSITIVE_FIELD = new Set(['address', 'city', 'content', 'detail', 'where']);

type Sensitivity = 'none' | 'field' | 'everywhere';
const sensitivityByKey = new Map<string, Sensitivity>();

function classify(key: string): Sensitivity {
  const plain = key.toLowerCase().replace(/[^a-z0-9]/g, '');
  if (SENSITIVE_WHOLE.has(plain) || SENSITIVE_PARTS.test(plain)) return 'everywhere';
  return SENSITIVE_FIELD.has(plain) || plain.endsWith('details') ? 'field' : 'none';
}

function sensitivityOf(key: string): Sensitivity {
  let sensitivity = sensitivityByKey.get(key);
  if (sensitivity === undefined) {
    sensitivity = classify(key);
    if (sensitivityByKey.size < KEY_CACHE_MAX) sensitivityByKey.set(key, sensitivity);
  }
  return sensitivity;
}

/** Whether a field of this name holds a key, a secret, a signature or personal data. */
export function isSensitiveKey(key: string): boolean {
  return sensitivityOf(key) !== 'none';
}

const TOKEN = /(cw_[a-z]+_|whsec_)[0-9A-Za-z_-]{4,}/g;
const URL_CREDENTIALS = /\/\/[^\s/@]{1,512}@/g;
const AUTHORIZATION_SCHEME = /\b(Bearer\s{1,3}|Basic\s{1,3}(?=[\w+/]{12}))[\w.~+/=-]{6,}/gi;
// How viem's errors name the node that was called; the path is where providers put the key.
const NODE_URL = /(\bURL: https?:\/\/[^\s/]{1,255}\/)\S+/g;
const EMAIL = /[\w.%+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+/g;
// 65 bytes: a signature. 32 bytes stay readable, for transaction hashes look like private keys.
const HEX_SIGNATURE = /0x[0-9a-fA-F]{130}(?![0-9a-fA-F])/g;
const ASSIGNMENT = /([A-Za-z][\w-]{1,48})\\{0,4}["']?\)?\s{0,3}[:=]\s{0,3}/g;
const OPENING_QUOTE = /(\\*)"/y;
const UNQUOTED_VALUE = /'[^']*'?|\([^)]*\)?|[^,;&)}\]\n]+/y;

/**
 * Where the double-quoted text that starts at `start` ends. JSON inside a JSON string has its quotes escaped, once for
 * every level: a quote closes when it carries as many backslashes as the opening one, escaped pairs left aside.
 */
function endOfQuoted(text: string, start: number, backslashes: number): number {
  let end = text.indexOf('"', start);
  for (; end !== -1; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (end - escapes > start && text[end - escapes - 1] === '\\') escapes += 1;
    if (escapes % (2 * (backslashes + 1)) === backslashes) return end + 1;
  }
  return text.length;
}

function endOfValue(text: string, start: number): number {
  OPENING_QUOTE.lastIndex = start;
  const opening = OPENING_QUOTE.exec(text);
  if (opening) return endOfQuoted(text, OPENING_QUOTE.lastIndex, opening[1]?.length ?? 0);
  UNQUOTED_VALUE.lastIndex = start;
  return UNQUOTED_VALUE.test(text) ? UNQUOTED_VALUE.lastIndex : start;
}

/** Masks `name: value`, `name=value`, `"name":"value"` and PostgreSQL's `(name)=(value)` when the name is sensitive. */
function maskAssignments(text: string): string {
  let masked = '';
  let copiedTo = 0;
  ASSIGNMENT.lastIndex = 0;
  for (let match = ASSIGNMENT.exec(text); match !== null; match = ASSIGNMENT.exec(text)) {
    if (sensitivityOf(match[1] ?? '') !== 'everywhere') continue;
    const valueStart = ASSIGNMENT.lastIndex;
    const valueEnd = endOfValue(text, valueStart);
    if (valueEnd === valueStart) continue;
    masked += text.slice(copiedTo, valueStart) + REDACTED;
    copiedTo = valueEnd;
    ASSIGNMENT.lastIndex = valueEnd;
  }
  return copiedTo === 0 ? text : masked + text.slice(copiedTo);
}

/** The text with keys, secrets, signatures, credentials in addresses and e-mail addresses masked, cut to a limit. */
export function maskText(text: string): string {
  let masked = text.length > TEXT_MASKED_MAX ? text.slice(0, TEXT_MASKED_MAX) : text;
  if (masked.includes('cw_') || masked.includes('whsec_')) masked = masked.replace(TOKEN, `$1${REDACTED}`);
  if (masked.includes('@')) {
    masked = masked.replace(URL_CREDENTIALS, `//${REDACTED}@`).replace(EMAIL, REDACTED);
  }
  if (masked.includes('URL: ')) masked = masked.replace(NODE_URL, `$1${REDACTED}`);
  if (masked.length > 8) masked = masked.replace(AUTHORIZATION_SCHEME, `$1${REDACTED}`);
  if (masked.length > 130) masked = masked.replace(HEX_SIGNATURE, REDACTED);
  if (masked.includes(':') || masked.includes('=')) masked = maskAssignments(masked);
  return text.length > TEXT_MAX ? `${masked.slice(0, TEXT_MAX)}… (${text.length} characters)` : masked;
}

interface Walk {
  nodesLeft: number;
  /** The objects between the root and here, to recognise a cycle. */
  readonly ancestors: object[];
}

/** A copy of the value that is safe to log: plain data, sensitive fields and texts masked at any depth. */
export function redact(value: unknown): unknown {
  return redactValue(value, { nodesLeft: NODES_MAX, ancestors: [] });
}

function redactValue(value: unknown, walk: Walk): unknown {
  if (walk.nodesLeft <= 0) return '[cut off]';
  walk.nodesLeft -= 1;
  switch (typeof value) {
    case 'string':
      return maskText(value);
    case 'bigint':
      return value.toString();
    case 'function':
    case 'symbol':
      return undefined;
    case 'object':
      return value === null ? null : redactObject(value, walk);
    default:
      return value;
  }
}

function redactObject(value: object, walk: Walk): unknown {
  if (walk.ancestors.includes(value)) return '[circular]';
  if (walk.ancestors.length >= DEPTH_MAX) return '[cut off]';
  walk.ancestors.push(value);
  try {
    return copyObject(value, walk);
  } catch {
    // A getter or toJSON that throws must not turn a log line into a second failure.
    return '[unreadable]';
  } finally {
    walk.ancestors.pop();
  }
}

function copyObject(value: object, walk: Walk): unknown {
  if (Array.isArray(value)) return copyList(value, walk);
  if (value instanceof Error) return copyError(value, walk);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'invalid date' : value.toISOString();
  // Bytes can be key material, and are of no use in a log.
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
  if (value instanceof Set) return copyList([...value], walk);
  if (value instanceof Map) return copyEntries(mapEntries(value), walk);
  if ('toJSON' in value && typeof value.toJSON === 'function') return redactValue(value.toJSON(), walk);
  return copyMessage(value) ?? copyEntries(ownEntries(value), walk);
}

/** Requests and responses carry sockets, headers and bodies: only what identifies them is logged. */
function copyMessage(value: object): unknown {
  if (isPlain(value)) return undefined;
  if ('method' in value && 'url' in value && typeof value.url === 'string') {
    // The query may search by name or e-mail, so only the path is kept.
    const path = maskText(value.url.split('?', 1)[0] ?? '');
    return { id: 'id' in value ? redact(value.id) : undefined, method: value.method, url: path };
  }
  if ('statusCode' in value && typeof value.statusCode === 'number') return { statusCode: value.statusCode };
  return undefined;
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

function* ownEntries(value: object): Generator<[string, unknown]> {
  for (const key of Object.keys(value)) yield [key, (value as Record<string, unknown>)[key]];
}

function* mapEntries(value: ReadonlyMap<unknown, unknown>): Generator<[string, unknown]> {
  for (const [key, entry] of value) yield [typeof key === 'string' ? key : inspect(key, { depth: 0 }), entry];
}

function copyEntries(entries: Iterable<[string, unknown]>, walk: Walk): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  let count = 0;
  for (const [key, value] of entries) {
    if (count >= ENTRIES_MAX) {
      copy['…'] = 'cut off';
      break;
    }
    count += 1;
    copy[maskText(key)] = isSensitiveKey(key) ? hide(value) : redactValue(value, walk);
  }
  return copy;
}

/** An absent value or a flag says nothing about a person, and that it is absent is often the bug. */
function hide(value: unknown): unknown {
  return value === undefined || value === null || typeof value === 'boolean' ? value : REDACTED;
}

function copyList(list: readonly unknown[], walk: Walk): unknown[] {
  const copy: unknown[] = [];
  let previous: unknown;
  for (const item of list.slice(0, ENTRIES_MAX)) {
    // Raw headers and entry lists hold a name followed by its value.
    const named = typeof previous === 'string' && isSensitiveKey(previous);
    copy.push(named ? hide(item) : redactValue(item, walk));
    previous = item;
  }
  if (list.length > ENTRIES_MAX) copy.push(`… (${list.length} items)`);
  return copy;
}

function copyError(error: Error, walk: Walk): Record<string, unknown> {
  const copy: Record<string, unknown> = {
    type: typeof error.name === 'string' ? maskText(error.name) : 'Error',
    message: maskText(String(error.message)),
    stack: typeof error.stack === 'string' ? maskText(error.stack) : undefined,
    ...copyEntries(ownEntries(error), walk),
  };
  if (error.cause !== undefined) copy.cause = redactValue(error.cause, walk);
  if (error instanceof AggregateError) copy.errors = redactValue(error.errors, walk);
  return copy;
}
