import type { OrderPhase } from '@causeway/protocol';
import { parseAddress } from '../host/host.ts';
import { type MessageKey, t, tIfKnown } from '../i18n/i18n.ts';
import type { Order } from '../session/api.ts';

/** What is still to come after each phase, either way. The service says which phase it is; nothing here reads a status. */
const AHEAD: Readonly<
  Record<OrderPhase, Readonly<Record<'onramp' | 'offramp', readonly NextStep[]>> | readonly NextStep[]>
> = {
  match: {
    onramp: ['pay', 'settle_onramp', 'completed'],
    offramp: ['sign', 'settle_offramp', 'completed'],
  },
  pay: ['settle_onramp', 'completed'],
  sign: ['settle_offramp', 'completed'],
  settle: ['completed'],
  confirm: ['completed'],
  refund: ['refunded'],
  release: ['completed'],
  completed: [],
  stopped: [],
  disputed: ['decided'],
};

type NextStep = MessageKey extends infer Key
  ? Key extends `phase.next.${infer Step}`
    ? Step
    : never
  : never;

/** The phase, or undefined where the service has learnt one that this page does not know yet. */
export function knownPhase({ phase }: Pick<Order, 'phase'>): OrderPhase | undefined {
  return Object.hasOwn(AHEAD, phase) ? phase : undefined;
}

export function stepsAhead(order: Pick<Order, 'phase' | 'side'>): string[] {
  const phase = knownPhase(order);
  if (phase === undefined) return [];
  const ahead = AHEAD[phase];
  const steps = 'onramp' in ahead ? ahead[order.side] : ahead;
  return steps.map((step) => t(`phase.next.${step}`));
}

/** A status in a few words; one that is not known yet reads as “please wait”. */
export function statusText(status: string): string {
  return tIfKnown(`status.${status}`) ?? t('status.unknown');
}

/** What is happening now, as far as there is more to say than the phase says. */
export function nowText({ status }: Pick<Order, 'status'>): string {
  return tIfKnown(`status.now.${status}`) ?? t('phase.settle.text');
}

export function holdText(hold: NonNullable<Order['hold']>): string {
  return tIfKnown(`hold.${hold.reason}`) ?? t('hold.unknown');
}

export function failureText(failure: NonNullable<Order['failure']>): string {
  return tIfKnown(`failure.${failure.code}`) ?? failure.message;
}

/** An address or an id inside a sentence, which keeps its direction whatever the sentence’s is. */
export function isolated(text: string): string {
  return `\u2066${text}\u2069`;
}

/** Addresses that a page may lead to: where the shop is, or a developer’s machine. */
export function safeLink(address: string | undefined | null): URL | null {
  const url = parseAddress(address ?? '');
  if (url === null) return null;
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  const isAllowed = url.protocol === 'https:' || (url.protocol === 'http:' && isLocal);
  return isAllowed && url.username === '' && url.password === '' ? url : null;
}

/** Where an explorer shows a transaction; null where the chain has none. */
export function transactionLink(explorer: string | null | undefined, hash: string | null): URL | null {
  if (hash === null || !/^0x[0-9a-fA-F]{64}$/.test(hash)) return null;
  const base = safeLink(explorer);
  return base === null ? null : new URL(`${base.href.replace(/\/$/, '')}/tx/${hash}`);
}
