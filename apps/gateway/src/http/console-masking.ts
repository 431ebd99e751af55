import { can } from '@causeway/protocol/console';
import type { onSendHookHandler } from 'fastify';
import type { ConsoleUser } from './principals.ts';

/**
 * A key reads its customers’ names as the partner gave them; a person at the console reads them in full only where the role
 * may reveal personal data. One place for every route: answers are masked by the names of their fields.
 */
const PERSONAL_FIELDS: ReadonlySet<string> = new Set([
  'email',
  'first_name',
  'last_name',
  'phone_number',
  'full_name',
  'recipient_name',
  'recipient_native_name',
  'account_holder_name',
  'sender_name',
  'iban',
  'account_number',
  // A payer’s own words.
  'reference',
]);
/** Where somebody is to be paid: whoever moves orders on needs it as it is. */
const INSTRUCTIONS: ReadonlySet<string> = new Set([
  'vendor_payment_details',
  'details',
  'payment_instructions',
]);
const MASK = '****';

export const maskForUser: onSendHookHandler = (request, reply, payload, done) => {
  const user = request.principal?.user;
  if (user === undefined || can(user.role, 'personal.reveal')) return done(null, payload);
  const type = String(reply.getHeader('content-type') ?? '');
  if (typeof payload !== 'string' || !type.startsWith('application/json') || reply.statusCode >= 400) {
    return done(null, payload);
  }
  done(null, JSON.stringify(masked(JSON.parse(payload), user)));
};

function masked(value: unknown, user: ConsoleUser): unknown {
  if (Array.isArray(value)) return value.map((one) => masked(one, user));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, maskedField(name, field, user)]),
  );
}

function maskedField(name: string, value: unknown, user: ConsoleUser): unknown {
  if (typeof value === 'string') return PERSONAL_FIELDS.has(name) ? maskedText(value) : value;
  if (INSTRUCTIONS.has(name) && value !== null && typeof value === 'object') {
    return can(user.role, 'orders.act') ? value : maskedWhole(value);
  }
  return masked(value, user);
}

/** Rails name their fields as they like: each of them is masked. */
function maskedWhole(value: object): unknown {
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name,
      typeof field === 'string' ? maskedText(field) : field,
    ]),
  );
}

/** The first character, and of an e-mail address its domain; what is masked already stays as it is. */
function maskedText(value: string): string {
  if (value === '' || value.startsWith(MASK)) return value;
  const [first = ''] = value;
  const at = value.lastIndexOf('@');
  return first + MASK + (at > 0 ? value.slice(at) : '');
}
