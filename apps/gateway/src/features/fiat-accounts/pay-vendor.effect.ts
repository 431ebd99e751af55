import { type Database, SYSTEM } from '../../db/database.ts';
import type { Intent } from '../../engine/intent.ts';
import type { IntentHandler, Outcome } from '../../engine/intent-worker.ts';
import type { Sealer } from '../../lib/crypto.ts';
import type { BankingPort } from '../../upstream/banking.port.ts';
import type { OrderHosts } from '../orders/order.host.ts';
import { vendorDetailsOf } from '../orders/order.secrets.ts';
import { readOrder } from '../orders/read-order.ts';
import { reportFacts } from '../orders/report-facts.ts';
import { askBank, BANK_SCHEDULE } from './bank-patience.ts';
import { paymentOfOrder } from './fiat-payment.store.ts';

export interface PayVendorTools {
  readonly db: Database;
  readonly bank: BankingPort;
  readonly sealer: Sealer;
  readonly orderHosts: OrderHosts;
}

type Payload = { readonly order_id: string };

/** Sends what a deposit brought on to the vendor of its order; the vendor says when it has arrived. */
export function payVendorHandler(tools: PayVendorTools): IntentHandler<Payload> {
  async function pay({ payload }: Intent<Payload>): Promise<Outcome> {
    const order = await readOrder(tools.db, SYSTEM, payload.order_id);
    const [payment] = await tools.db.query(SYSTEM, paymentOfOrder, [payload.order_id]);
    if (order === undefined || payment === undefined) {
      return { kind: 'failed', error: 'there is no such payment' };
    }
    const asked = await askBank(() =>
      tools.bank.transfer({
        key: `order:${order.order_id}`,
        fromAccount: payment.account_reference ?? '',
        to: { kind: 'vendor', vendorId: order.vendor_id ?? '', details: vendorDetailsOf(tools, order) ?? {} },
        currency: payment.currency,
        amount: BigInt(payment.amount),
      }),
    );
    if ('unavailable' in asked) return { kind: 'retry', error: asked.unavailable };
    // The customer has paid and the vendor has not been: nobody but a person can sort that out.
    if ('refused' in asked) {
      return {
        kind: 'failed',
        error: asked.refused,
        followUp: (unit) => reportFacts(tools, unit, payload.order_id, ['hold_placed'], 'bank'),
      };
    }
    return { kind: 'confirmed' };
  }

  return {
    kind: 'bank.pay-vendor',
    schedule: BANK_SCHEDULE,
    perform: pay,
    reconcile: pay,
    exhausted: (intent, unit) => reportFacts(tools, unit, intent.payload.order_id, ['hold_placed'], 'bank'),
  };
}
