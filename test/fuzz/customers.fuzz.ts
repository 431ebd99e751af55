import { documentOf, SUBMISSION } from '../../apps/gateway/src/features/kyc/testing/kyc-samples.ts';
import type { Answer, TestGateway } from '../harness/gateway.ts';
import { EURO, IDENTIFICATION } from '../scenarios/fiat-driver.ts';
import { mutateBody, NASTY } from './mutate.ts';
import { createRandom, type Random } from './random.ts';

/** One way into the customers' routes: a request that is right, from which wrong ones are made. */
interface Target {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string>>;
  readonly operator?: true;
}

const SEPA = {
  rail: 'iban-sepa',
  currency: 'EUR',
  country_code: 'DE',
  institution_id: 'other-bank',
  details: { full_name: 'Erika Mustermann', iban: 'DE89370400440532013000', beneficiary_type: 'individual' },
};
const CNAPS = {
  rail: 'cnaps',
  currency: 'CNY',
  country_code: 'CN',
  institution_id: 'bank-of-china',
  details: {
    company_name: 'Example Trading Ltd',
    beneficiary_type: 'business',
    account_number: '6222020200112233',
  },
};
const RECIPIENT = {
  recipient_kind: 'individual',
  recipient_name: 'Wang Xiaoming',
  recipient_native_name: '王小明',
  recipient_country: 'CN',
  recipient_id_type: 'NATIONAL_ID',
  recipient_id_number: '11010519491231002X',
};
const PATCH = {
  gender: 'F',
  nationality: 'DE',
  id_issue_country: 'DE',
  source_of_funds: 'SALARY',
  id_type: 'PASSPORT',
  address: 'Unter den Linden 1',
  city: 'Berlin',
  postal_code: '10117',
};
const PAGE = { page: '1', limit: '20' };
const REASON = { reason: 'fuzzing' };

const TARGETS: readonly Target[] = [
  {
    method: 'POST',
    path: '/partner/users',
    body: {
      email: 'fuzz@example.com',
      first_name: 'F',
      phone_number: '+4930123456',
      country_code: 'DE',
      reference_id: 'r',
    },
  },
  {
    method: 'GET',
    path: '/partner/users',
    query: { ...PAGE, email: 'fuzz@example.com', kyc_status: 'VERIFIED' },
  },
  { method: 'GET', path: '/partner/users/{user}' },
  { method: 'POST', path: '/partner/users/{user}/kyc-submissions', body: SUBMISSION },
  { method: 'POST', path: '/partner/users/{user}/kyc', body: { ...SUBMISSION, method: 'hosted_link' } },
  { method: 'POST', path: '/partner/users/{user}/kyc/documents', body: documentOf('ID_FRONT') },
  { method: 'POST', path: '/partner/users/{user}/documents', body: documentOf('SELFIE', 'application/pdf') },
  { method: 'PATCH', path: '/partner/users/{user}/kyc', body: PATCH },
  { method: 'GET', path: '/partner/users/{user}/verification-status' },
  { method: 'GET', path: '/partner/users/{user}/identity' },
  { method: 'POST', path: '/partner/users/{user}/payment-details', body: SEPA },
  { method: 'POST', path: '/partner/users/{user}/payment-details', body: CNAPS },
  { method: 'GET', path: '/partner/users/{user}/payment-details', query: PAGE },
  { method: 'POST', path: '/partner/users/{user}/identification', body: IDENTIFICATION },
  { method: 'GET', path: '/partner/users/{user}/identification' },
  { method: 'POST', path: '/partner/users/{user}/fiat-accounts', body: EURO },
  { method: 'GET', path: '/partner/users/{user}/fiat-accounts' },
  { method: 'GET', path: '/partner/users/{user}/fiat-accounts/{spare}' },
  { method: 'GET', path: '/partner/users/{user}/fiat-accounts/retail_1/ledger', query: PAGE },
  { method: 'GET', path: '/partner/users/{user}/fiat-accounts/retail_1/payments', query: PAGE },
  {
    method: 'POST',
    path: '/sandbox/users/{user}/fiat-accounts/retail_1/deposits',
    body: { amount: '1.00', sender_name: 'Ada', reference: 'r', transaction_id: 't' },
  },
  { method: 'POST', path: '/partner/recipients', body: RECIPIENT },
  {
    method: 'GET',
    path: '/partner/recipients',
    query: {
      search: 'wang',
      limit: '5',
      offset: '0',
      rail: 'iban-sepa',
      currency: 'EUR',
      recipient_country: 'CN',
      screening_status: 'clear',
    },
  },
  { method: 'GET', path: '/partner/recipients/{recipient}' },
  { method: 'PATCH', path: '/partner/recipients/{recipient}', body: RECIPIENT },
  { method: 'DELETE', path: '/partner/recipients/{spare}' },
  { method: 'GET', path: '/partner/recipients/{recipient}/destinations' },
  { method: 'POST', path: '/partner/recipients/{recipient}/destinations', body: SEPA },
  {
    method: 'POST',
    path: '/sandbox/users/{user}/kyc-status',
    body: { status: 'PENDING_DOCUMENTS', rejection_reasons: ['X'] },
  },
  {
    method: 'POST',
    path: '/sandbox/recipients/{recipient}/screening-status',
    body: { screening_status: 'clear' },
  },
  { method: 'POST', path: '/kyc/provider/callback', body: { type: 'applicantReviewed' } },
  { method: 'GET', path: '/operator/kyc-reviews', query: { limit: '5', offset: '0' }, operator: true },
  {
    method: 'POST',
    path: '/operator/users/{user}/kyc-decision',
    body: { ...REASON, decision: 'reject', rejection_reasons: ['A'] },
    operator: true,
  },
  { method: 'POST', path: '/operator/users/{user}/reveal', body: REASON, operator: true },
  { method: 'GET', path: '/operator/screening-reviews', query: { limit: '5', offset: '0' }, operator: true },
  {
    method: 'POST',
    path: '/operator/recipients/{recipient}/screening-decision',
    body: { ...REASON, decision: 'clear' },
    operator: true,
  },
  { method: 'POST', path: '/operator/recipients/{recipient}/reveal', body: REASON, operator: true },
  { method: 'GET', path: '/operator/fiat-payments', query: { limit: '5', offset: '0' }, operator: true },
  {
    method: 'POST',
    path: '/operator/fiat-payments/{user}/decision',
    body: { ...REASON, decision: 'match', order_id: '00000000-0000-7000-8000-000000000000' },
    operator: true,
  },
  { method: 'POST', path: '/operator/users/{spare}/erase', body: REASON, operator: true },
  {
    method: 'GET',
    path: '/operator/audit',
    query: { limit: '5', offset: '0', subject: 'users/x' },
    operator: true,
  },
];

export interface FuzzReport {
  readonly requests: number;
  /** How many answers had each status: a run in which everything is 400 has tried nothing. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly problems: readonly string[];
}

const IN_FLIGHT = 16;
const MOST_PROBLEMS = 10;

/** Sends seeded, mutated requests over every route of customers and judges each answer by its form alone. */
export async function fuzzCustomers(
  gateway: TestGateway,
  options: { readonly seed: number; readonly requests: number },
): Promise<FuzzReport> {
  const random = createRandom(options.seed);
  const known = await makeSubjects(gateway);
  const statuses: Record<string, number> = {};
  const problems: string[] = [];
  for (let sent = 0; sent < options.requests && problems.length < MOST_PROBLEMS; sent += IN_FLIGHT) {
    // All are made before any is sent, so that the order of answers does not change what is asked.
    const batch = Array.from({ length: Math.min(IN_FLIGHT, options.requests - sent) }, () =>
      makeRequest(random, gateway, known),
    );
    const answers = await Promise.all(batch.map(({ send }) => send()));
    answers.forEach((answer, index) => {
      statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
      const problem = problemWith(answer);
      if (problem !== undefined) problems.push(`request ${sent + index}, ${batch[index]?.what}: ${problem}`);
    });
  }
  return { requests: options.requests, statuses, problems };
}

interface Subjects {
  readonly users: readonly string[];
  readonly recipients: readonly string[];
}

async function makeSubjects(gateway: TestGateway): Promise<Subjects> {
  const users: string[] = [];
  const recipients: string[] = [];
  for (let n = 0; n < 4; n++) {
    const user = await gateway.call('POST', '/api/v1/partner/users', {
      body: { email: `subject-${n}@example.com` },
    });
    users.push(user.body.data.id);
    const recipient = await gateway.call('POST', '/api/v1/partner/recipients', { body: RECIPIENT });
    recipients.push(recipient.body.data.recipient_id);
  }
  return { users, recipients };
}

const BAD_IDS = [
  '0',
  'me',
  '%00',
  '%2e%2e',
  '..%2f..',
  'x'.repeat(600),
  '%F0%9F%98%80',
  '%',
  "1'--",
  '00000000-0000-0000-0000-000000000000',
];

function makeRequest(random: Random, gateway: TestGateway, known: Subjects) {
  const target = random.pick(TARGETS);
  const path = target.path
    .replace('{user}', () => idFor(random, known.users))
    .replace('{recipient}', () => idFor(random, known.recipients))
    .replace('{spare}', () => random.pick(BAD_IDS));
  const query = target.query === undefined ? '' : makeQuery(random, target.query);
  const key = random.chance(3) ? random.pick([null, 'cw_test_wrong', gateway.partners[1].apiKey]) : undefined;
  const ownKey = target.operator ? gateway.sandbox.operatorKey : gateway.partners[0].apiKey;
  const headers = makeHeaders(random);
  const body = target.body === undefined ? undefined : mutateBody(random, target.body);
  const rawBody = body === undefined ? undefined : makeText(random, JSON.stringify(body));
  return {
    what: `${target.method} ${target.path}`,
    send: () =>
      gateway.call(target.method, `/api/v1${path}${query}`, {
        key: key === undefined ? ownKey : key,
        headers,
        ...(rawBody === undefined ? {} : { rawBody }),
      }),
  };
}

function idFor(random: Random, ids: readonly string[]): string {
  return random.chance(85) ? random.pick(ids) : random.pick(BAD_IDS);
}

function makeQuery(random: Random, query: Readonly<Record<string, string>>): string {
  const parts = Object.entries(query)
    .filter(() => random.chance(50))
    .map(([name, value]) => {
      const sent = random.chance(40) ? asText(random.pick(NASTY)).slice(0, 2_000) : value;
      return `${name}=${encodeURIComponent(sent.toWellFormed())}`;
    });
  if (random.chance(5)) parts.push(random.pick(['%', 'a=%ff', '&&&', 'limit=1&limit=2', '__proto__[x]=1']));
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
}

const asText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

function makeHeaders(random: Random): Record<string, string> {
  const headers: Record<string, string> = {};
  if (random.chance(15))
    headers['idempotency-key'] = random.pick(['one', 'two', 'x'.repeat(255), 'x'.repeat(256)]);
  if (random.chance(3))
    headers['content-type'] = random.pick([
      'text/plain',
      'application/xml',
      'application/json; charset=utf-16',
    ]);
  return headers;
}

/** Mostly the JSON as it is; now and then bytes that are none. */
function makeText(random: Random, text: string): string {
  if (!random.chance(4)) return text;
  return random.pick([
    text.slice(0, random.below(text.length + 1)),
    `${text}}`,
    '{',
    '[',
    'null',
    '',
    '\u0000',
    '['.repeat(5_000),
  ]);
}

function problemWith({ status, headers, text, body }: Answer): string | undefined {
  if (status >= 500) return `answered ${status}: ${text.slice(0, 300)}`;
  if (headers.get('x-request-id') === null) return 'has no X-Request-Id';
  if (body === undefined || typeof body !== 'object') return `is no JSON: ${text.slice(0, 100)}`;
  if (status === 200)
    return body.success === true && 'data' in body ? undefined : 'is not in the success envelope';
  const { success, error } = body;
  const inEnvelope =
    success === false &&
    typeof error?.code === 'string' &&
    typeof error.message === 'string' &&
    typeof error.details === 'object' &&
    error.details !== null;
  return inEnvelope ? undefined : `is not in the error envelope: ${text.slice(0, 200)}`;
}
