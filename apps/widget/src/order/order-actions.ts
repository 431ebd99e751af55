import { useRef } from 'preact/hooks';
import type { Order } from '../session/api.ts';
import { ApiError } from '../session/api.ts';
import { setServerTime } from '../session/clock.ts';
import { api, change, draft, order, showOrder, startOver } from '../session/store.ts';
import { useTask } from '../ui/kit.tsx';

/** Requests for the order are numbered as they begin: of two answers the newer one is that to the later request. */
let begun = 0;
let shown = 0;

/**
 * Asks for the order and shows the answer, unless that to a later request is shown: then it may be older. By number, because
 * the clock of a sandbox may be set back.
 */
export async function ask(request: () => Promise<Order>): Promise<{ given: Order; isNewest: boolean }> {
  begun += 1;
  const number = begun;
  const given = await request();
  const isNewest = number > shown;
  if (isNewest && draft.value.orderId === given.order_id) {
    shown = number;
    setServerTime(given.server_time);
    showOrder(given);
  }
  return { given, isNewest };
}

/** One action at a time: a second press while the first is under way does nothing. */
export function useOrderTask() {
  const { busy, error, run } = useTask();
  const isUnderWay = useRef(false);
  const once = async (work: () => Promise<void>) => {
    if (isUnderWay.current) return;
    isUnderWay.current = true;
    try {
      await run(work);
    } finally {
      isUnderWay.current = false;
    }
  };
  return { busy, error, once };
}

/** An action on the order. Where the order has moved on meanwhile, its new state is what the customer needs to see. */
export async function act(orderId: string, work: () => Promise<Order>): Promise<void> {
  const read = () => ask(() => api().order(orderId));
  try {
    // Where the order was read meanwhile, before or after the action: what is read from here on is after it. It is polled too.
    if (!(await ask(work)).isNewest) await read().catch(() => undefined);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 409) throw error;
    const before = order.value?.status;
    await read();
    if (order.value?.status === before) throw error;
  }
}

/** The same again: the figures are those of the order, the price is a new one. */
export function tryAgain(stopped: Order): void {
  const isOnramp = stopped.side === 'onramp';
  startOver();
  change({
    side: stopped.side,
    fiatCurrency: isOnramp ? stopped.pay_currency : stopped.receive_currency,
    cryptoCurrency: isOnramp ? stopped.receive_currency : stopped.pay_currency,
    anchor: 'fiat',
    amount: isOnramp ? stopped.pay_amount : stopped.receive_amount,
    rail: stopped.payment_network_slug,
    walletAddress: stopped.wallet_address,
  });
}
