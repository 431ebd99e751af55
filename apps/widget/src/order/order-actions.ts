import { useRef } from 'preact/hooks';
import type { Order } from '../session/api.ts';
import { ApiError } from '../session/api.ts';
import { setServerTime } from '../session/clock.ts';
import { api, change, draft, order, showOrder, startOver } from '../session/store.ts';
import { useTask } from '../ui/kit.tsx';

/** The newest word about the order. An answer that was on its way while something happened is older than what is shown. */
export function receive(given: Order): void {
  const shown = order.value;
  const isOlder =
    shown?.order_id === given.order_id && Date.parse(given.server_time) < Date.parse(shown.server_time);
  if (isOlder || draft.value.orderId !== given.order_id) return;
  setServerTime(given.server_time);
  showOrder(given);
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
  try {
    receive(await work());
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 409) throw error;
    const before = order.value?.status;
    receive(await api().order(orderId));
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
