import { randomBytes } from 'node:crypto';
import { bytesToHex } from 'viem';
import { type Intent, prepareIntent } from '../../engine/intent.ts';
import type { IntentHandler, Outcome } from '../../engine/intent-handler.ts';
import type { UnitDeps } from '../../engine/unit-of-work.ts';
import { schedule } from '../../lib/backoff.ts';
import type { Address, ChainSettings, Hex } from '../chain-settings.ts';
import { tokenTransferCall } from '../token-reads.ts';
import type { Transactor } from '../transactions/transactor.ts';
import { type BridgeDeposit, type ChainFactHandler, sameAddress } from '../watcher/chain-facts.ts';
import { type BridgePort, BridgeRefusedError } from './bridge.ts';
import {
  findQuote,
  readQuote,
  recordFinished,
  type SimulatedQuote,
  type SolverConduct,
  storeQuote,
  takeDeposit,
} from './simulated-bridge.store.ts';

/**
 * A bridge between the chains of a sandbox. Its solver is a wallet with tokens on every one of them: it sees deposits on
 * one chain by the router's event and really pays out on the other, or really sends the deposit back. What it knows is
 * kept apart from the orders, as an external bridge's would be.
 */
export interface SimulatedBridgeDeps extends UnitDeps {
  readonly chains: readonly ChainSettings[];
  readonly solver: Address;
  readonly transactor: Transactor;
  /** What it does with a new quote; pays unless told otherwise. */
  readonly conductOf?: (sender: Address, recipient: Address) => Promise<SolverConduct>;
}

export interface SimulatedBridge extends BridgePort {
  /** Takes the deposits that the watcher reports. */
  readonly takeDeposits: ChainFactHandler;
  /** Pays out, or pays back. */
  readonly solverHandler: IntentHandler<'sandbox.solver-payout'>;
}

const QUOTE_VALID_MS = 15 * 60_000;
/** Five in ten thousand, as bridges take for stablecoins. */
const FEE_PER_TEN_THOUSAND = 5n;
const POLL_MS = 300;

export function simulateBridge(deps: SimulatedBridgeDeps): SimulatedBridge {
  const { db, clock, solver, transactor } = deps;

  async function pay(quote: SimulatedQuote): Promise<Outcome> {
    const isPaid = quote.conduct === 'pays';
    const transfer = isPaid
      ? { token: quote.toToken, to: quote.recipient, amount: quote.toAmount }
      : { token: quote.fromToken, to: quote.sender, amount: quote.amount };
    // One key for both ways: whatever is changed meanwhile, the solver parts with its tokens once.
    const progress = await transactor.advance(`solver:${quote.quoteId}`, async () => ({
      chainId: isPaid ? quote.toChainId : quote.fromChainId,
      sender: solver,
      call: tokenTransferCall(transfer),
    }));
    if (progress.state === 'refused') return { kind: 'retry', error: progress.reason };
    // A plain transfer, which the chain would admit twice: it is not sent again.
    if (progress.state === 'displaced') {
      return { kind: 'failed', error: 'another transaction of the solver’s wallet has used its nonce' };
    }
    if (progress.state !== 'mined') return { kind: 'waiting', afterMs: POLL_MS };
    const isOnTarget = progress.receipt.to !== null && sameAddress(progress.receipt.to, quote.toToken);
    const isSettled = isOnTarget && progress.receipt.status === 'success';
    return {
      kind: 'confirmed',
      result: { tx_hash: progress.txHash },
      followUp: async (unit) =>
        recordFinished(unit, quote.quoteId, isSettled ? 'settled' : 'returned', progress.txHash),
    };
  }

  async function act({ payload }: Intent<'sandbox.solver-payout'>): Promise<Outcome> {
    const quote = await findQuote(db, payload.quote_id as Hex);
    if (quote?.status !== 'deposited') return { kind: 'confirmed', result: 'nothing to do' };
    return quote.conduct === 'waits' ? { kind: 'waiting', afterMs: POLL_MS } : pay(quote);
  }

  return {
    async quote(requested) {
      const from = deps.chains.find(({ chainId }) => chainId === requested.fromChainId);
      const to = deps.chains.find(({ chainId }) => chainId === requested.toChainId);
      const fromToken = from?.tokens.find(({ address }) => sameAddress(address, requested.token));
      const toToken = to?.tokens.find(({ code }) => code === fromToken?.code);
      if (from === to || fromToken === undefined || toToken === undefined) {
        throw new BridgeRefusedError('the bridge does not serve this way');
      }
      const afterFee = requested.amount - (requested.amount * FEE_PER_TEN_THOUSAND) / 10_000n;
      const toAmount = (afterFee * 10n ** BigInt(toToken.decimals)) / 10n ** BigInt(fromToken.decimals);
      if (toAmount <= 0n) throw new BridgeRefusedError('the amount is too small for the bridge');
      const quoteId = bytesToHex(randomBytes(32));
      const expiresAt = new Date(clock.now() + QUOTE_VALID_MS);
      const { fromChainId, toChainId, amount, sender, recipient } = requested;
      const conduct = (await deps.conductOf?.(sender, recipient)) ?? 'pays';
      const quote: SimulatedQuote = {
        ...{ quoteId, fromChainId, toChainId, amount, toAmount, sender, recipient, conduct },
        fromToken: fromToken.address,
        toToken: toToken.address,
        status: 'quoted',
        payoutTxHash: null,
      };
      await storeQuote(db, quote, clock.date(), expiresAt);
      return { quoteId, solver, toAmount, expiresAt };
    },

    async track(quoteId) {
      const quote = await findQuote(db, quoteId);
      if (quote === undefined) throw new BridgeRefusedError('the bridge does not know the quote');
      if (quote.status === 'settled' && quote.payoutTxHash !== null) {
        return { state: 'settled', txHash: quote.payoutTxHash, toAmount: quote.toAmount };
      }
      return quote.status === 'returned' ? { state: 'failed', reason: 'refunded' } : { state: 'pending' };
    },

    async takeDeposits(fact, unit) {
      if (fact.type !== 'bridge_deposited' || !sameAddress(fact.solver, solver)) return;
      const quote = await readQuote(unit, fact.bridgeQuoteId);
      if (quote === undefined || !isPaidInFull(quote, fact)) return;
      if (!(await takeDeposit(unit, quote.quoteId, fact.txHash))) return;
      prepareIntent(unit, {
        kind: 'sandbox.solver-payout',
        dedupeKey: quote.quoteId,
        partnerId: null,
        payload: { quote_id: quote.quoteId },
      });
    },

    solverHandler: {
      schedule: schedule([1, 2, 5], { maxAttempts: 20 }),
      perform: act,
      reconcile: act,
    },
  };
}

function isPaidInFull(quote: SimulatedQuote, deposit: BridgeDeposit): boolean {
  return (
    deposit.chainId === quote.fromChainId &&
    sameAddress(deposit.token, quote.fromToken) &&
    deposit.amount >= quote.amount
  );
}
