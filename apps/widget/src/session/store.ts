import { computed, effect, signal } from '@preact/signals';
import { host } from '../host/host.ts';
import { type Api, ApiError, begin, createApi, type Order, type Session } from './api.ts';
import type { Asked } from './asked.ts';
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
  /** What it was begun for: the next page of this tab may be another customer’s. */
  readonly asked?: Asked | undefined;
  /** Orders that were seen here before they were completed: of each of them the page is told once. */
  readonly underWay?: readonly string[] | undefined;
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

type Input = Parameters<typeof begin.withKey>[1];

let opening: Opening | null = null;
let stopStoring: (() => void) | null = null;

/** What the page asked for at the start; a session that takes the place of an expired one begins with the same. */
let beginning: Input = {};
/** The same, as it is stored. */
const asked = signal<Asked | undefined>(undefined);
const underWay = signal<readonly string[]>([]);

function openingKey(how: Opening): string {
  return how.by === 'key' ? how.widgetKey : how.sessionId;
}

/**
 * The tab’s session goes on where the page asks for the same person, and its draft where the page asks for the same trade. What
 * the partner’s server has made is found by its id alone: the page cannot ask for anything in it.
 */
export async function open(how: Opening, input: Input, asks: Asked): Promise<void> {
  opening = how;
  beginning = input;
  asked.value = asks;
  const stored = readStored(openingKey(how));
  const isServers = how.by === 'session';
  let left: Draft | null = null;
  if (stored !== null && !isServers && stored.asked?.who !== asks.who) store(null);
  else if (stored !== null) {
    underWay.value = stored.underWay ?? [];
    const isSame = isServers || stored.asked?.what === asks.what;
    if (await resume(stored, isSame ? null : input)) return;
    // The session has ended, not what the customer was about: it says again who it is and goes on.
    if (isSame) left = stored.draft;
  }
  const started =
    how.by === 'key'
      ? await begin.withKey(how.widgetKey, input)
      : await openWithCode(how.sessionId, how.code);
  adopt(started.token, started.session, left ?? { ...EMPTY_DRAFT, ...fromStart(started.session) });
}

/** The address has no code any more once it has opened the session. */
function openWithCode(sessionId: string, code: string): ReturnType<typeof begin.withCode> {
  if (code !== '') return begin.withCode(sessionId, code);
  throw new ApiError('WIDGET_SESSION_NOT_FOUND', 'This page has expired.', 404, undefined, null);
}

/** The page asks for something else while it is shown, and the draft has followed it. */
export function follow(asks: Asked): void {
  asked.value = asks;
}

/** Whether the tab’s session is still the one on screen: a page that the browser kept may come back after another one’s. */
export function isStillStored(): boolean {
  const stored = opening === null ? null : readStored(openingKey(opening));
  return stored !== null && stored.token === shownToken;
}

/** What a session begins with, as the first screens understand it. */
function fromStart({ start, chain }: Pick<Session, 'start' | 'chain'>): Partial<Draft> {
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

/** With `input`, the page asks the same person for another trade. */
async function resume(stored: Stored, input: Input | null): Promise<boolean> {
  try {
    const resumed = await createApi(stored.token).session();
    beginning = { ...personal(resumed.start), ...beginning };
    adopt(stored.token, resumed, input === null ? stored.draft : anew(resumed, input));
    return true;
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    return false;
  }
}

/** The reload of a hosted page no longer has it; the session does. */
function personal({ wallet_address: wallet, reference_id: reference }: Session['start']) {
  return {
    ...(wallet === undefined ? {} : { wallet_address: wallet }),
    ...(reference === undefined ? {} : { reference_id: reference }),
  };
}

const PLAIN_DECIMAL = /^\d+(\.\d+)?$/;

/**
 * What the page asks for now, in a session that is begun: the service has not read it. An order that is under way is shown
 * before another one is begun.
 */
function anew({ start, chain, orders }: Session, input: Input): Draft {
  const { side, fiat_currency: fiat, crypto_currency: crypto, fiat_amount: amount, country_code } = input;
  const token = chain.tokens.find(({ code }) => code === crypto?.toUpperCase());
  const asks = {
    side: side === 'offramp' ? side : ('onramp' as const),
    ...(fiat === undefined ? {} : { fiat_currency: fiat.toUpperCase() }),
    ...(token === undefined ? {} : { crypto_currency: token.code }),
    ...(PLAIN_DECIMAL.test(`${amount}`) ? { fiat_amount: `${amount}` } : {}),
    ...(country_code === undefined ? {} : { country_code: country_code.toUpperCase() }),
    ...personal({ ...start, ...input }),
  };
  return {
    ...EMPTY_DRAFT,
    ...fromStart({ start: asks, chain }),
    showsOrders: orders.some((one) => one.is_open),
  };
}

let shownToken = '';

function adopt(given: string, started: Session, begun: Draft): void {
  shownToken = given;
  current = createApi(given);
  draft.value = begun;
  session.value = started;
  stopStoring?.();
  stopStoring = effect(() => {
    if (opening === null) return;
    const tab = { draft: draft.value, asked: asked.value, underWay: underWay.value };
    store({ key: openingKey(opening), token: given, ...tab });
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
    ordersBefore: null,
  });
}

export async function refreshSession(): Promise<void> {
  session.value = await api().session();
}

const REMEMBERED = 20;

/** Under way in this tab: once it is completed, the page is told. */
function watch(orderId: string): void {
  if (!underWay.value.includes(orderId)) underWay.value = [...underWay.value, orderId].slice(-REMEMBERED);
}

/**
 * Opens what the customer has confirmed. The answer may be lost on its way, or the page be left before it comes; a tab that
 * comes back to the review knows by what was there before whether there is an order after all.
 */
export async function confirmOrder(quoteId: string): Promise<void> {
  if (await showLostOrder()) return;
  const known = session.value?.orders ?? [];
  change({ ordersBefore: draft.value.ordersBefore ?? known.map((one) => one.order_id) });
  showNewOrder(await api().openOrder(quoteId, draft.value.walletAddress));
}

/** Whether an order was opened by a confirmation that had no answer. It is then on screen: another one would be a second. */
export async function showLostOrder(): Promise<boolean> {
  const { ordersBefore } = draft.value;
  if (ordersBefore === null) return false;
  await refreshSession();
  const lost = session.value?.orders.find((one) => one.is_open && !ordersBefore.includes(one.order_id));
  if (lost === undefined) return false;
  showNewOrder(await api().order(lost.order_id));
  return true;
}

/** An order that the customer has just placed, which may be over as soon as it is there. */
export function showNewOrder(placed: Order): void {
  const { order_id: orderId, side } = placed;
  watch(orderId);
  host().send({ type: 'trade_started', orderId, side });
  // What was chosen has become the order; the next one begins at the beginning.
  change({ isAmountDone: false, isDestinationDone: false, orderId, ordersBefore: null });
  showOrder(placed);
}

/** Tells the page of a trade that was completed here; one that was over when it was first seen is no news. */
export function showOrder(shown: Order): void {
  order.value = shown;
  if (draft.value.orderId !== shown.order_id) change({ orderId: shown.order_id, showsOrders: false });
  const { order_id: orderId, side } = shown;
  if (shown.phase !== 'completed') watch(orderId);
  else if (underWay.value.includes(orderId)) {
    underWay.value = underWay.value.filter((one) => one !== orderId);
    host().send({ type: 'trade_completed', orderId, side });
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
  if (opening.by === 'session') {
    failure.value = new ApiError('UNAVAILABLE', 'This page has expired.', 401, undefined, error.requestId);
    return true;
  }
  const started = await begin.withKey(opening.widgetKey, beginning);
  adopt(started.token, started.session, draft.value);
  return true;
}
