import { openConnections, type RawAnswer } from './connections.ts';
import { runOpenLoop, seededRandom } from './open-loop.ts';

/** What partners ask for, in the mix that a round names, of many partners at once. */
export const REQUEST_KINDS = [
  'estimate',
  'quote',
  'initiate',
  'cancel',
  'read',
  'list',
  'discovery',
] as const;
export type RequestKind = (typeof REQUEST_KINDS)[number];

/** A day's requests: quotes and reads for the most part, and every order that is opened is cancelled again. */
export const USUAL_MIX: readonly RequestKind[] = [
  ...(['quote', 'read', 'quote', 'discovery', 'read'] as const),
  ...(['initiate', 'list', 'read', 'quote', 'cancel'] as const),
];

export interface LoadPartner {
  readonly apiKey: string;
  /** Of its machine, as a proxy before the gateway would tell it. */
  readonly address: string;
  /** Customers whose orders it opens. */
  readonly customers: readonly string[];
  /** Orders that stay, to be read. */
  readonly orders: readonly string[];
}

export interface LoadRound {
  readonly seconds: number;
  readonly aSecond: number;
  readonly seed: number;
  readonly mix: readonly RequestKind[];
}

export interface LoadResult {
  /** Milliseconds from when each was due, of what was answered 200, by kind. */
  readonly latencies: Readonly<Record<string, readonly number[]>>;
  /** How many of each: kind, status and code; status 0 where no answer came. */
  readonly answers: Readonly<Record<string, number>>;
  /** Refusals with 429 or 503 that do not say when to come again. */
  readonly withoutRetryAfter: number;
}

interface PartnerState extends LoadPartner {
  readonly quotes: string[];
  readonly opened: string[];
}

/**
 * What is due beyond waits here, and counts from when it was due. As many as the peak answers in the second in which an answer
 * is of use: with 256 a server at 1,700 requests a second saw no overload, only 256 clients, and the line was here.
 */
const CONNECTIONS = 1_024;
/** What a client waits before it gives up. */
const TIMEOUT_MS = 10_000;
const PAIR = { crypto_currency: 'USDC', fiat_currency: 'EUR', fiat_amount: '20.00' };
const REFUSED = new Set([429, 503]);

export function createPartnerLoad(baseUrl: string, partners: readonly LoadPartner[]) {
  const { hostname, port } = new URL(baseUrl);
  // Kept from one round to the next, as the proxies of partners keep them: a busy process is slow to accept, and what would be
  // measured is that.
  const connections = openConnections({ host: hostname, port: Number(port) }, CONNECTIONS);
  const states: PartnerState[] = partners.map((partner) => ({ ...partner, quotes: [], opened: [] }));

  function requestOf(
    kind: RequestKind,
    by: PartnerState,
    n: number,
  ): [method: string, path: string, body?: object] {
    switch (kind) {
      case 'estimate':
        return ['POST', '/partner/onramp/estimate', PAIR];
      case 'quote': {
        const user_uuid = by.customers[n % by.customers.length];
        return ['POST', '/partner/onramp/quote', { ...PAIR, user_uuid }];
      }
      case 'initiate':
        return ['POST', '/partner/onramp/initiate', { quote_id: by.quotes.pop() }];
      case 'cancel':
        return ['POST', `/partner/orders/${by.opened.shift()}/cancel`];
      case 'read':
        return ['GET', `/partner/orders/${by.orders[n % by.orders.length]}`];
      case 'list':
        return ['GET', '/partner/orders?limit=20'];
      case 'discovery':
        return ['GET', '/supported/corridors'];
    }
  }

  /** What needs an earlier answer is asked by a partner that has it; where none has, that answer is asked for first. */
  function possible(kind: RequestKind, from: number): [RequestKind, PartnerState] {
    const start = states[from] as PartnerState;
    const holds = { initiate: 'quotes', cancel: 'opened' } as const;
    const needed = kind === 'initiate' || kind === 'cancel' ? holds[kind] : undefined;
    if (needed === undefined) return [kind, start];
    const holder = [...states.slice(from), ...states.slice(0, from)].find(
      (state) => state[needed].length > 0,
    );
    if (holder !== undefined) return [kind, holder];
    return kind === 'cancel' ? possible('initiate', from) : ['quote', start];
  }

  async function round({ seconds, aSecond, seed, mix }: LoadRound): Promise<LoadResult> {
    await connections.openAll(`GET /health HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`, TIMEOUT_MS);
    const random = seededRandom(seed);
    const latencies: Record<string, number[]> = {};
    const answers: Record<string, number> = {};
    let withoutRetryAfter = 0;

    async function send(n: number, due: number): Promise<void> {
      const wanted = mix[n % mix.length] as RequestKind;
      const [kind, by] = possible(wanted, Math.floor(random() * states.length));
      const [method, path, body] = requestOf(kind, by, n);
      const answer = await connections
        .request(requestText(hostname, method, path, by, body), TIMEOUT_MS)
        .catch((error: Error): RawAnswer => ({ status: 0, head: '', body: error.message }));
      const line = answer.status === 200 ? `${kind} 200` : `${kind} ${answer.status} ${codeOf(answer)}`;
      answers[line] = (answers[line] ?? 0) + 1;
      if (REFUSED.has(answer.status) && !/\r\nretry-after: *\d/i.test(answer.head)) withoutRetryAfter++;
      if (answer.status !== 200) {
        // It stays open otherwise, and a customer may have only so many.
        if (kind === 'cancel' && path.includes('/orders/')) by.opened.push(path.split('/')[3] ?? '');
        return;
      }
      latencies[kind] ??= [];
      latencies[kind].push(performance.now() - due);
      if (kind === 'quote') by.quotes.push(idIn(answer, 'quote_id'));
      if (kind === 'initiate') by.opened.push(idIn(answer, 'order_id'));
    }

    await runOpenLoop({ seconds, aSecond, random, send });
    return { latencies, answers, withoutRetryAfter };
  }

  return { round, close: () => connections.close() };
}

function requestText(host: string, method: string, path: string, by: LoadPartner, body?: object): string {
  const text = body === undefined ? '' : JSON.stringify(body);
  const type =
    body === undefined ? '' : `content-type: application/json\r\ncontent-length: ${text.length}\r\n`;
  return `${method} /api/v1${path} HTTP/1.1\r\nhost: ${host}\r\nx-api-key: ${by.apiKey}\r\nx-forwarded-for: ${by.address}\r\n${type}\r\n${text}`;
}

const idIn = ({ body }: RawAnswer, name: string): string =>
  new RegExp(`"${name}":"([^"]+)"`).exec(body)?.[1] ?? '';

const codeOf = ({ status, body }: RawAnswer): string =>
  status === 0 ? body : (/"(?:code|error_key)":"([^"]+)"/.exec(body)?.[1] ?? '?');
