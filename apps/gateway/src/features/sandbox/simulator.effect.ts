import type { OrderStatus } from '@causeway/protocol';
import { tokenByCode } from '../../chain/chain-settings.ts';
import { localSigner } from '../../chain/signer.ts';
import { tokenTransferCall } from '../../chain/token-reads.ts';
import type { Transactor } from '../../chain/transactor.ts';
import { SYSTEM } from '../../db/database.ts';
import { type Intent, type IntentDraft, prepareIntent } from '../../engine/intent.ts';
import type { IntentHandler, Outcome } from '../../engine/intent-worker.ts';
import { type UnitOfWork, type UnitTools, unitOfWork } from '../../engine/unit-of-work.ts';
import { schedule } from '../../lib/backoff.ts';
import type { Sealer } from '../../lib/crypto.ts';
import type { OrderRow } from '../orders/order.types.ts';
import { readOrder } from '../orders/read-order.ts';
import { acceptOrder, confirmFiatReceived, type VendorTools } from '../vendors/serve-order.ts';
import { findSimulatedVendor } from '../vendors/simulated-vendor.ts';
import { autoAdvances } from './settings.ts';

/**
 * The simulated people of a sandbox. They do what a person would do through the same use cases; where crypto moves, it
 * moves on the local chain.
 */
export interface SimulatorTools extends UnitTools, VendorTools {
  readonly transactor: Transactor;
  readonly sealer: Sealer;
}

type ActPayload = { readonly order_id: string; readonly status: OrderStatus; readonly asked: boolean };

const KIND = 'sandbox.act';
const THINKING_MS = 1_000;
const POLL_MS = 300;

/** The statuses in which a simulated vendor has something to do. */
const VENDOR_ACTS: readonly OrderStatus[] = [
  'awaiting_liquidity_provider',
  'awaiting_vendor_escrow_funding',
  'fiat_transfer_pending',
];

/** Called in the transaction that moved an order: somebody may have to act next. */
export function wakeSimulator(unit: UnitOfWork, order: OrderRow): void {
  if (!VENDOR_ACTS.includes(order.status)) return;
  prepareIntent(unit, act(order, false, new Date(unit.at.getTime() + THINKING_MS)));
}

/** Called when a sandbox user asks for it: the vendor acts whatever the settings say. */
export function askSimulator(unit: UnitOfWork, order: OrderRow): void {
  prepareIntent(unit, act(order, true, unit.at));
}

function act(order: OrderRow, asked: boolean, runAt: Date): IntentDraft {
  return {
    kind: KIND,
    dedupeKey: `${order.order_id}:${order.status}:${order.timeline.length}:${asked ? 'asked' : 'self'}`,
    partnerId: order.partner_id,
    payload: { order_id: order.order_id, status: order.status, asked },
    runAt,
  };
}

export function simulatorHandler(tools: SimulatorTools): IntentHandler<ActPayload> {
  async function carryOut(intent: Intent<ActPayload>): Promise<Outcome> {
    const order = await readOrder(tools.db, SYSTEM, intent.payload.order_id);
    if (order === undefined || order.status !== intent.payload.status || order.vendor_id === null) {
      return { kind: 'confirmed', result: 'nothing to do' };
    }
    if (!intent.payload.asked && !(await autoAdvances(tools.db, order.partner_id))) {
      return { kind: 'confirmed', result: 'auto_advance is off' };
    }
    const vendor = await findSimulatedVendor(tools.db, tools.sealer, order.vendor_id);
    if (vendor === undefined) return { kind: 'confirmed', result: 'the vendor is real' };
    const signer = localSigner(vendor.privateKey);
    switch (order.status) {
      case 'awaiting_liquidity_provider':
        await unitOfWork(tools, SYSTEM, (unit) =>
          acceptOrder(tools, unit, vendor.row, order.order_id, signer.signDigest),
        );
        return { kind: 'confirmed' };
      case 'fiat_transfer_pending':
        await unitOfWork(tools, SYSTEM, (unit) =>
          confirmFiatReceived(tools, unit, vendor.row, order.order_id, signer.signDigest),
        );
        return { kind: 'confirmed' };
      default:
        return fundEscrow(tools, order, vendor.row.wallet_address);
    }
  }

  return {
    kind: KIND,
    schedule: schedule([1, 2, 5, 10], { maxAttempts: 6 }),
    perform: carryOut,
    reconcile: carryOut,
  };
}

/** One transfer an order, however often it is asked for: the transactor knows the effect by the order's id. */
async function fundEscrow(tools: SimulatorTools, order: OrderRow, from: `0x${string}`): Promise<Outcome> {
  const { escrow } = order;
  if (escrow === null) return { kind: 'failed', error: 'the order has no escrow' };
  const { settings } = tools.chains.get(order.chain);
  const progress = await tools.transactor.advance(`sandbox-funding:${order.order_id}`, async () => ({
    chainId: settings.chainId,
    sender: from,
    call: tokenTransferCall({
      token: tokenByCode(settings, order.crypto_currency).address,
      to: escrow.address,
      amount: BigInt(order.crypto_amount),
    }),
  }));
  if (progress.state === 'mined') return { kind: 'confirmed', result: { tx_hash: progress.txHash } };
  if (progress.state === 'pending') return { kind: 'waiting', afterMs: POLL_MS };
  return {
    kind: 'retry',
    error: progress.state === 'refused' ? progress.reason : 'the nonce was used elsewhere',
  };
}
