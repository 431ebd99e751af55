import type { OrderTrigger } from '@causeway/protocol';
import { recordBridgeDeposit } from '../../../chain/authorization/authorization.store.ts';
import type { Authorization } from '../../../chain/authorization/authorization.ts';
import {
  authorizationRelayHandler,
  settleAuthorizations,
} from '../../../chain/authorization/relay-authorization.ts';
import { type ChainSettings, tokenByCode } from '../../../chain/chain-settings.ts';
import type { Chains, ConnectedChain } from '../../../chain/chains.ts';
import { lookAtEscrow, readExecution } from '../../../chain/escrow/escrow-execution.ts';
import { batchCall, executionCall, packSignatures } from '../../../chain/escrow/safe-transaction.ts';
import {
  type MinedTransaction,
  transactionHandler,
} from '../../../chain/transactions/transaction-handler.ts';
import type { ChainEffect, Transactor } from '../../../chain/transactions/transactor.ts';
import type {
  ChainFactHandler,
  Deposit,
  EscrowWatch,
  HeldDepositsHandler,
} from '../../../chain/watcher/chain-facts.ts';
import { hasDepositIn } from '../../../chain/watcher/deposits.store.ts';
import { watchAgain, watchEscrow } from '../../../chain/watcher/watch.store.ts';
import { SYSTEM } from '../../../db/database.ts';
import { execute } from '../../../engine/execute.ts';
import type { Intent } from '../../../engine/intent.ts';
import type { IntentHandler, IntentHandlers, Outcome } from '../../../engine/intent-handler.ts';
import { postEntries } from '../../../engine/ledger.ts';
import type { UnitDeps, UnitOfWork } from '../../../engine/unit-of-work.ts';
import { schedule } from '../../../lib/backoff.ts';
import type { Logger } from '../../../lib/logger.ts';
import { depositNotNeeded, heldEntry, isSigned, tokenOf } from '../deposits/deposit.adapter.ts';
import { reportFacts } from '../lifecycle/act-on-order.ts';
import type { OrderAdapters } from '../lifecycle/order.adapter.ts';
import { escrowSignatures, findOrder, lockOrder, setTransactionHash } from '../lifecycle/order.store.ts';
import type { OrderEscrow, OrderRow } from '../lifecycle/order.ts';
import { followSendOut } from '../send-out/track-send-out.effect.ts';
import { depositsOfOrder } from './escrow.store.ts';
import {
  depositOf,
  ensureEscrow,
  FUNDED,
  fitsPayout,
  type Payout,
  type PayoutPurpose,
  payoutOf,
} from './escrow.ts';

/** Makes an order's escrow known to the chain watcher, which also looks through the blocks before it was. */
export function escrowFundingHandler(
  deps: UnitDeps & { readonly chains: Chains },
): IntentHandler<'escrow.deploy-and-watch'> {
  async function register({ payload }: Intent<'escrow.deploy-and-watch'>): Promise<Outcome> {
    const [found] = await deps.db.query(SYSTEM, findOrder, [payload.order_id]);
    const order = found && (await ensureEscrow(deps, found));
    if (order?.escrow == null) return { kind: 'failed', error: 'the order has no escrow' };
    const { settings } = deps.chains.get(order.chain);
    const watch = watchOf(settings, order, order.escrow);
    return {
      kind: 'confirmed',
      result: { watched: watch.address },
      followUp: async (unit) => watchEscrow(unit, settings.chainId, watch, order.created_at),
    };
  }
  return {
    schedule: schedule([5], { maxAttempts: 1_000 }),
    perform: register,
  };
}

/**
 * What a deposit means for its order: the exact one funds it. Any other, and one that the order has no use for, is held
 * for a person to decide, and in the books from then on.
 */
export function creditDeposits(deps: {
  readonly orderAdapters: OrderAdapters;
  readonly chains: Chains;
}): ChainFactHandler {
  return async (fact, unit) => {
    if (fact.type !== 'deposit' || fact.kind !== 'exact') return;
    const obstacle = await fund(unit, fact);
    if (obstacle === null) return;
    const deposits = await unit.tx.query(depositsOfOrder, [fact.orderId]);
    const deposit = deposits.find(({ deposit_id }) => deposit_id === fact.depositId);
    if (deposit === undefined) return;
    depositNotNeeded(unit, deposit, settingsOf(deps.chains, fact.chainId), obstacle);
  };

  /** Null where the order took it, else why not. */
  async function fund(unit: UnitOfWork, fact: Deposit): Promise<string | null> {
    const [order] = await unit.tx.query(lockOrder, [fact.orderId]);
    if (order === undefined) return 'there is no such order';
    // The order's own payout has the escrow's first nonce; where a return has used it, no payout could follow.
    const others = await unit.tx.query(depositsOfOrder, [fact.orderId]);
    if (others.some(isSigned)) return 'the escrow has paid something back';
    const trigger = FUNDED[order.direction];
    const execution = execute(unit, deps.orderAdapters[order.direction], order, trigger, 'chain');
    if (execution.kind !== 'moved') return `the order was ${order.status}`;
    unit.tx.defer(setTransactionHash, [order.order_id, fact.txHash]);
    watchAgain(unit, order.order_id);
    return null;
  }
}

/** A token that the chain is not configured for is booked when it is really moved: anyone can log a transfer of one. */
export function bookHeldDeposits({ chains }: { readonly chains: Chains }): HeldDepositsHandler {
  return (deposits, unit) =>
    postEntries(
      unit,
      deposits.flatMap((fact) => {
        const settings = settingsOf(chains, fact.chainId);
        if (tokenOf(settings, fact.token) === undefined) return [];
        const { depositId: deposit_id, orderId: order_id, partnerId: partner_id, token, sender } = fact;
        return [heldEntry({ deposit_id, order_id, partner_id, token, sender }, fact.amount, settings)];
      }),
    );
}

function settingsOf(chains: Chains, chainId: number): ChainSettings {
  const chain = chains.all.find(({ settings }) => settings.chainId === chainId);
  if (chain === undefined) throw new Error(`chain ${chainId} is not connected`);
  return chain.settings;
}

function watchOf(settings: ChainSettings, order: OrderRow, escrow: OrderEscrow): EscrowWatch {
  return {
    address: escrow.address,
    orderId: order.order_id,
    partnerId: order.partner_id,
    token: tokenByCode(settings, order.crypto_currency).address,
    expectedAmount: depositOf(order),
    expectedSender: escrow.seller,
  };
}

type PayoutKind = 'escrow.release' | 'escrow.return-to-vendor' | 'escrow.refund' | 'escrow.auto-refund';

interface PayoutDeps extends UnitDeps {
  readonly chains: Chains;
  readonly transactor: Transactor;
  readonly orderAdapters: OrderAdapters;
  readonly logger: Logger;
}

interface PayoutEffect {
  readonly purpose: PayoutPurpose;
  readonly succeeded: OrderTrigger;
  readonly failed: OrderTrigger;
}

const RELEASE: PayoutEffect = {
  purpose: 'release',
  succeeded: 'release_confirmed',
  failed: 'release_failed',
};
const REFUND: PayoutEffect = {
  purpose: 'refund',
  succeeded: 'refund_confirmed',
  failed: 'refund_failed',
};

const POLL_MS = 400;

/** Empties an escrow one way or the other: deployed and executed in a single transaction where it was never deployed. */
export function escrowPayoutHandlers(deps: PayoutDeps): Pick<IntentHandlers, PayoutKind> {
  const refund = payoutHandler(deps, REFUND);
  return {
    'escrow.release': payoutHandler(deps, RELEASE),
    'escrow.return-to-vendor': refund,
    // The partner has signed for its own deposit.
    'escrow.refund': refund,
    // The buyer signed it when it took the order; where it never did, the partner is asked instead.
    'escrow.auto-refund': refund,
  };
}

function payoutHandler(deps: PayoutDeps, effect: PayoutEffect): IntentHandler<PayoutKind> {
  const { chains } = deps;

  async function orderOf({ payload }: Intent<PayoutKind>): Promise<OrderRow> {
    const [order] = await deps.db.query(SYSTEM, findOrder, [payload.order_id]);
    if (order === undefined) throw new Error(`there is no order ${payload.order_id}`);
    return order;
  }

  async function report(
    unit: UnitOfWork,
    orderId: string,
    trigger: OrderTrigger,
    txHash?: string,
  ): Promise<void> {
    const [order] = await unit.tx.query(lockOrder, [orderId]);
    if (order === undefined) return;
    execute(unit, deps.orderAdapters[order.direction], order, trigger, 'chain');
    if (txHash !== undefined) unit.tx.defer(setTransactionHash, [orderId, txHash]);
  }

  function failed(orderId: string, error: string): Outcome {
    return { kind: 'failed', error, followUp: (unit) => report(unit, orderId, effect.failed) };
  }

  /** A final receipt of the execution, whichever account sent it. */
  function settled(order: OrderRow, payout: Payout, receipt: MinedTransaction['receipt']): Outcome {
    const { transactionHash: txHash } = receipt;
    const reading = readExecution(receipt, {
      escrow: payout.escrow.address,
      safeTxHash: payout.hash,
      transfers: payout.transfers,
    });
    if (!reading.succeeded) return failed(order.order_id, reading.reason);
    return {
      kind: 'confirmed',
      result: { tx_hash: txHash },
      followUp: (unit) => report(unit, order.order_id, effect.succeeded, txHash),
    };
  }

  /** May be sent in more than one transaction: release and refund have the Safe's first nonce, which admits one of them once. */
  async function describe(intent: Intent<PayoutKind>): Promise<ChainEffect | Outcome> {
    const order = await orderOf(intent);
    const chain = chains.get(order.chain);
    const payout = payoutOf(chain, order, effect.purpose);
    const sight = await lookAtEscrow(deps.db, chain, payout.escrow, payout.hash);
    switch (sight.state) {
      case 'executed':
        return settled(order, payout, sight.receipt);
      case 'executing':
        return { kind: 'waiting', afterMs: POLL_MS };
      case 'lost':
        return failed(order.order_id, sight.reason);
      default:
        return describeExecution(chain, order, payout, sight.state === 'ready');
    }
  }

  async function describeExecution(
    { settings }: ConnectedChain,
    order: OrderRow,
    payout: Payout,
    isDeployed: boolean,
  ): Promise<ChainEffect | Outcome> {
    const kept = await deps.db.query(SYSTEM, escrowSignatures, [order.order_id, effect.purpose]);
    const given = kept.filter((one) => fitsPayout(payout, one));
    if (given.length === 0) {
      const reason = kept.length === 0 ? 'has signed' : 'has signed what would be sent now';
      return failed(order.order_id, `no other owner of the escrow ${reason}`);
    }
    const signatures = [
      await chains.service.signDigest(payout.hash),
      ...given.map(({ signature }) => signature as `0x${string}`),
    ];
    const packed = await packSignatures(payout.escrow, payout.hash, signatures);
    const execution = executionCall(payout.escrow, payout.transaction, packed);
    const call = isDeployed
      ? execution
      : batchCall([payout.escrow.deploymentCall, execution], settings.contracts.multiSendCallOnly);
    return { chainId: settings.chainId, sender: 'hot-wallet', call };
  }

  /** A revert says that ours was not the one that did it, and no more: a third party may have deployed or executed first. */
  async function conclude(
    intent: Intent<PayoutKind>,
    { receipt }: MinedTransaction,
  ): Promise<Outcome | 'describe again'> {
    if (receipt.status !== 'success') return 'describe again';
    const order = await orderOf(intent);
    return settled(order, payoutOf(chains.get(order.chain), order, effect.purpose), receipt);
  }

  return transactionHandler(deps.transactor, {
    schedule: schedule([2, 5, 15, 60], { maxAttempts: 8 }),
    pollMs: POLL_MS,
    logger: deps.logger,
    describe,
    conclude,
    givenUp: ({ payload }) => failed(payload.order_id, 'reverted'),
    exhausted: (intent, unit) => report(unit, intent.payload.order_id, effect.failed),
  });
}

/** What orders learn of the requests their partners signed. */
export interface AuthorizationDeps extends UnitDeps {
  readonly chains: Chains;
  readonly transactor: Transactor;
  readonly logger: Logger;
  readonly orderAdapters: OrderAdapters;
}

/** The request can no longer execute, and its tokens did not move. */
const DEAD: Readonly<Record<Authorization['purpose'], readonly OrderTrigger[]>> = {
  funding: ['transfer_authorization_lapsed'],
  bridge: ['bridge_failed', 'bridge_authorization_lapsed'],
};

async function reportDead(
  deps: { readonly orderAdapters: OrderAdapters },
  unit: UnitOfWork,
  { orderId, purpose, depositTxHash }: Authorization,
): Promise<void> {
  // A bridge that was paid decides how the send-out ends; that the request is over matters only once it has failed.
  const triggers: readonly OrderTrigger[] =
    depositTxHash === null ? DEAD[purpose] : ['bridge_authorization_lapsed'];
  await reportFacts(deps, unit, orderId, triggers, 'chain');
}

export function authorizationHandlers(
  deps: AuthorizationDeps,
): Pick<IntentHandlers, 'transfer.relay' | 'bridge.relay'> {
  const onSettled = (authorization: Authorization, _end: string, unit: UnitOfWork) =>
    reportDead(deps, unit, authorization);
  const relayDeps = { ...deps, onSettled };
  return {
    'transfer.relay': authorizationRelayHandler(relayDeps, 'funding'),
    'bridge.relay': authorizationRelayHandler(relayDeps, 'bridge'),
  };
}

/**
 * A request that was executed, by any account. Its deposit has reported itself by then, from the same transaction; where
 * there was none, the nonce was used by something else, or by the request without effect, and it can never pay.
 */
export function followAuthorizations(deps: AuthorizationDeps): ChainFactHandler {
  return async (fact, unit) => {
    if (fact.type === 'bridge_deposited') {
      const paid = await recordBridgeDeposit(unit, fact);
      if (paid !== undefined) followSendOut(unit, paid);
      return;
    }
    if (fact.type !== 'forward_executed') return;
    const settle = settleAuthorizations({
      chains: deps.chains,
      onSettled: async (authorization) => {
        const isFunded =
          authorization.purpose === 'funding' &&
          (await hasDepositIn(unit, authorization.orderId, fact.txHash));
        if (!isFunded) await reportDead(deps, unit, authorization);
      },
    });
    await settle(fact, unit);
  };
}
