import { useSyncExternalStore } from 'react';
import { WalletProblem } from '../../wallet/wallet.ts';

/** A payment is sent once: what was sent is remembered in this browser, for all of its tabs, until the service has found it. */
const keyOf = (orderId: string) => `causeway.escrow-payment.${orderId}`;

const watchers = new Set<() => void>();

function subscribe(tell: () => void): () => void {
  watchers.add(tell);
  // Another tab has written; this one’s own writing makes no such event.
  window.addEventListener('storage', tell);
  return () => {
    watchers.delete(tell);
    window.removeEventListener('storage', tell);
  };
}

const tellAll = () => {
  for (const tell of watchers) tell();
};

/** The transaction that was sent for an order, or null. */
export function useSentPayment(orderId: string): string | null {
  return useSyncExternalStore(subscribe, () => localStorage.getItem(keyOf(orderId)));
}

export function forgetPayment(orderId: string): void {
  localStorage.removeItem(keyOf(orderId));
  tellAll();
}

/** Pays, unless it is paid by now; one tab at a time, because a wallet may ask for long. */
export async function payOnce(orderId: string, pay: () => Promise<string>): Promise<void> {
  const key = keyOf(orderId);
  const payUnlessSent = async () => {
    if (localStorage.getItem(key) === null) localStorage.setItem(key, await pay());
    tellAll();
  };
  // Pages that came over plain http have no locks.
  const { locks } = navigator as Partial<Navigator>;
  if (locks === undefined) return payUnlessSent();
  await locks.request(key, { ifAvailable: true }, async (lock) => {
    if (lock === null) throw new WalletProblem('Your wallet is asked in another tab already. Answer there.');
    await payUnlessSent();
  });
}
