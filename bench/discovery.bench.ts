import Fastify from 'fastify';
import {
  type DiscoveryGateway,
  startDiscoveryGateway,
} from '../apps/gateway/src/features/discovery/testing/discovery-gateway.ts';
import { type CompareOptions, compare } from './frame/compare.ts';
import type { BenchReport } from './frame/report.ts';
import { type RunningServer, startServerProcess } from './frame/server-process.ts';

/**
 * Discovery as partners ask for it, through the whole shell, against bare Fastify sending the same bytes.
 * Listings are answered from memory. The search is asked in new words every time, so that nothing is remembered:
 * folding, matching, ranking, cutting a page and serialising it are all paid for.
 */
const LISTINGS = [
  '/api/v1/supported/crypto-currencies',
  '/api/v1/supported/blockchains',
  '/api/v1/supported/fiat-currencies',
  '/api/v1/supported/payment-rails?country=GH&direction=offramp',
  '/api/v1/supported/institutions?rail=nip-nigeria',
  '/api/v1/supported/corridors',
];
const LISTING_TARGET = 0.9;
const SEARCH_TARGET = 0.5;
const SEARCH = '/api/v1/supported/institutions?rail=imps-neft-india&search=bank';
/** Together they hold more than 2,500 institutions. */
const SEARCHED_RAILS = ['imps-neft-india', 'iban-sepa', 'nip-nigeria', 'faster-payments', 'ach-us', 'spei'];
const SEARCHED_WORDS = [
  'ba',
  'co',
  'op',
  'an',
  'na',
  'ra',
  'al',
  'bank',
  'co-op',
  'sa',
  'ur',
  'ni',
  'de',
  'ar',
];
const OFFSETS = 40;
const DOTS = 83;

const COMMON: Pick<CompareOptions, 'connections' | 'durationSeconds' | 'rounds'> = {
  connections: 32,
  // Many short rounds: a noisy machine spoils single ones, not their median.
  durationSeconds: 1,
  rounds: 15,
};

export async function run(report: BenchReport): Promise<void> {
  const script = new URL(import.meta.url);
  const listings = await startServerProcess({ script, args: ['gateway'] });
  try {
    for (const path of LISTINGS) {
      report.add(await measure(`GET ${path}`, `${listings.url}${path}`, LISTING_TARGET));
    }
  } finally {
    await listings.stop();
  }
  const searches = await startServerProcess({ script, args: ['searches'] });
  try {
    report.add(
      await measure('institutions search in ever new words', `${searches.url}${SEARCH}`, SEARCH_TARGET),
    );
  } finally {
    await searches.stop();
  }
}

function measure(name: string, url: string, targetRatio: number) {
  const running: RunningServer = { url, stop: async () => {} };
  return compare({
    name,
    baseline: {
      start: () =>
        startServerProcess({
          script: new URL(import.meta.url),
          args: ['bare'],
          env: { BENCH_ANSWER_URL: url },
        }),
    },
    candidate: { start: async () => running },
    ...COMMON,
    targetRatio,
  });
}

/** Written by Node itself for every server. */
const NODES_OWN_HEADERS = ['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding'];

/** The baseline: Fastify as it comes, asked the same and sending the bytes that the candidate answered, head and body. */
async function serveBare(): Promise<void> {
  const asked = new URL(process.env.BENCH_ANSWER_URL ?? '');
  const answer = await fetch(asked, {
    headers: { 'accept-encoding': 'identity' },
  });
  const body = Buffer.from(await answer.arrayBuffer());
  const headers = Object.fromEntries(
    [...answer.headers].filter(([name]) => !NODES_OWN_HEADERS.includes(name)),
  );
  const app = Fastify({ logger: false });
  app.get(asked.pathname, (_request, reply) => reply.headers(headers).send(body));
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  process.send?.({ url: `${url}${asked.pathname}${asked.search}` });
  process.once('SIGTERM', () => void app.close().then(() => process.exit(0)));
}

async function serveGateway(withSearches: boolean): Promise<void> {
  const gateway = await startDiscoveryGateway({
    ...(withSearches ? { beforeListening: (app) => askInNewWords(app) } : {}),
  });
  process.send?.({ url: gateway.baseUrl });
  process.once('SIGTERM', () => void gateway.stop().then(() => process.exit(0)));
}

/** Each request becomes another search, in turns that are far longer than anything is remembered. */
function askInNewWords(app: DiscoveryGateway['app']): void {
  let turn = 0;
  app.addHook('onRequest', (request, _reply, done) => {
    turn += 1;
    const rail = SEARCHED_RAILS[turn % SEARCHED_RAILS.length] ?? '';
    const search = SEARCHED_WORDS[turn % SEARCHED_WORDS.length] ?? '';
    const query = {
      rail,
      // Dots are folded away after everything that remembers has looked at the words.
      search: search + '.'.repeat(turn % DOTS),
      limit: '20',
      offset: String(turn % OFFSETS),
    };
    request.raw.url = `/api/v1/supported/institutions?turn=${turn}`;
    (request as { query: unknown }).query = query;
    done();
  });
}

if (import.meta.main) {
  const role = process.argv[2];
  await (role === 'bare' ? serveBare() : serveGateway(role === 'searches'));
}
