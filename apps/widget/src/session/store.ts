import { computed, effect, signal } from '@preact/signals';
import { host } from '../host/host.ts';
import { type Api, ApiError, begin, createApi, type Order, type Session } from './api.ts';
import { type Draft, EMPTY_DRAFT, stepOf } from './steps.ts';

/** All that the screens share. A screen reads signals and calls the functions below; nothing else holds state for long. */
export const session = signal<Session | null>(null);
export const order = signal<Order | null>(null);
export const draft = signal<Draft>(EMPTY_DRAFT);
/** The last thing that went wrong and was not shown by a screen itself. */
export const failure = signal<ApiError | null>(null);
export const step = computed(() =>
  failure.value?.code === 'UNAVAILABLE' ? 'unavailable' : stepOf(session.value, draft.value),
);

let current: Api | null = null;

/** The calls of this session. Only screens use it, and they are shown once there is one. */
export function api(): Api {
  if (current === null) throw new Error('there is no session yet');
  return current;
}

/**
 * The token lives as long as the tab: it survives a reload and a crash and is gone with the tab. Another device, or a tab that
 * was closed, comes back by e-mail. Two widgets on one page share the tab’s storage, so that the second has a number.
 */
const STORED = `causeway-widget${new URLSearchParams(globalThis.location?.search).get('instance') ?? ''}`;

interface Stored {
  readonly key: string;
  readonly token: string;
  readonly draft: Draft;
}

function readStored(key: string): Stored | null {
  try {
    const stored = JSON.parse(sessionStorage.getItem(STORED) ?? 'null') as Stored | null;
    return stored?.key === key ? { ...stored, draft: { ...EMPTY_DRAFT, ...stored.draft } } : null;
  } catch {
    return null;
  }
}

function store(stored: Stored | null): void {
  try {
    if (stored === null) sessionStorage.removeItem(STORED);
    else sessionStorage.setItem(STORED, JSON.stringify(stored));
  } catch {
    // A browser that stores nothing only loses the way back.
  }
}

/** How this frame or page was opened: by the publishable key, or by a session of the partner’s server. */
export type Opening =
  | { readonly by: 'key'; readonly widgetKey: string }
  | { readonly by: 'session'; readonly sessionId: string; readonly code: string };

let opening: Opening | null = null;
let stopStoring: (() => void) | null = null;
/** What the page asked for at the start; a session that takes the place of an expired one begins with the same. */
let asked: Parameters<typeof begin.withKey>[1] = {};

function openingKey(how: Opening): string {
  return how.by === 'key' ? how.widgetKey : how.sessionId;
}

export async function open(
  how: Opening,
  start: Partial<Draft>,
  input: Parameters<typeof begin.withKey>[1],
): Promise<void> {
  opening = how;
  asked = input;
  const stored = readStored(openingKey(how));
  if (stored !== null && (await resume(stored))) return;
  const started =
    how.by === 'key'
      ? await begin.withKey(how.widgetKey, input)
      : await begin.withCode(how.sessionId, how.code);
  adopt(started.token, started.session, { ...EMPTY_DRAFT, ...fromStart(started.session), ...start });
}

/** What a session begins with, as the first screens understand it. */
function fromStart({ start, chain }: Session): Partial<Draft> {
  return {
    ...(start.side === undefined ? {} : { side: start.side }),
    fiatCurrency: start.fiat_currency ?? '',
    cryptoCurrency: start.crypto_currency ?? chain.tokens[0]?.code ?? '',
    ...(start.crypto_amount === undefined
      ? { anchor: 'fiat' as const, amount: start.fiat_amount ?? '' }
      : { anchor: 'crypto' as const, amount: start.crypto_amount }),
    country: start.country_code ?? '',
    walletAddress: start.wallet_address ?? '',
  };
}

async function resume(stored: Stored): Promise<boolean> {
  try {
    const resumed = createApi(stored.token);
    adopt(stored.token, await resumed.session(), stored.draft);
    return true;
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    store(null);
    return false;
  }
}

function adopt(token: string, started: Session, begun: Draft): void {
  current = createApi(token);
  draft.value = begun;
  session.value = started;
  stopStoring?.();
  stopStoring = effect(() => {
    if (opening !== null) store({ key: openingKey(opening), token, draft: draft.value });
  });
}

export function change(part: Partial<Draft>): void {
  draft.value = { ...draft.value, ...part };
}

/** The customer starts over: the session and who it is stay. */
export function startOver(): void {
  order.value = null;
  change({
    isAmountDone: false,
    isDestinationDone: false,
    orderId: '',
    showsOrders: false,
    paymentDetailsId: null,
  });
}

export async function refreshSession(): Promise<void> {
  session.value = await api().session();
}

/** Tells the page what became of the order, once each. */
const told = new Set<string>();
export function showOrder(shown: Order): void {
  order.value = shown;
  if (draft.value.orderId !== shown.order_id) change({ orderId: shown.order_id, showsOrders: false });
  if (shown.phase === 'completed' && !told.has(shown.order_id)) {
    told.add(shown.order_id);
    host().send({ type: 'trade_completed', orderId: shown.order_id, side: shown.side });
  }
}

/** A session that is refused as soon as it was renewed is an error like any other. */
const RENEWED_AT_MOST_EVERY_MS = 10_000;
let renewedAt = Number.NEGATIVE_INFINITY;

/** An expired session is not an error to show: the customer says again who it is and goes on. */
export async function recover(error: unknown): Promise<boolean> {
  if (!(error instanceof ApiError) || error.status !== 401 || opening === null) return false;
  if (performance.now() - renewedAt < RENEWED_AT_MOST_EVERY_MS) return false;
  renewedAt = performance.now();
  store(null);
  if (opening.by === 'session') {
    failure.value = new ApiError('UNAVAILABLE', 'This page has expired.', 401, undefined, error.requestId);
    return true;
  }
  const started = await begin.withKey(opening.widgetKey, asked);
  adopt(started.token, started.session, draft.value);
  return true;
}
