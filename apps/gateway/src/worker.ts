import { watchGasBalances } from './chain/transactions/gas-balances.ts';
import { fillNonceGaps } from './chain/transactions/nonce-gaps.ts';
import { foreignTokenReader } from './chain/watcher/foreign-tokens.ts';
import { watchTurn } from './chain/watcher/watcher.ts';
import { SYSTEM } from './db/database.ts';
import type { Deps } from './deps.ts';
import { createIntentWorker, type IntentHandler } from './engine/intent-worker.ts';
import { bankingHandlers } from './features/fiat-accounts/banking.effects.ts';
import { followPayments } from './features/fiat-accounts/payments.effect.ts';
import { type Check, databaseCheck } from './features/health/readiness.ts';
import { deleteDocumentHandler, storeDocumentHandler } from './features/kyc/documents/documents.ts';
import { verifyUserHandler } from './features/kyc/verification.effect.ts';
import { countOrderOutcomes } from './features/offers/count-outcomes.ts';
import { followReturns, returnDepositHandler } from './features/orders/deposits/return-deposit.effect.ts';
import { creditDeposits, escrowFundingHandler } from './features/orders/escrow/escrow-funding.effect.ts';
import {
  authorizationHandlers,
  escrowPayoutHandlers,
  followAuthorizations,
} from './features/orders/escrow/escrow-payout.effect.ts';
import { closeFinishedWatches } from './features/orders/escrow/reconcile-escrows.ts';
import { expireOrders, vendorResponseSeconds } from './features/orders/lifecycle/act-on-order.ts';
import {
  holdScreenedHandler,
  offerOrderHandler,
  passOverSilentVendors,
} from './features/orders/lifecycle/offer-order.effect.ts';
import { requestPaymentHandler } from './features/orders/lifecycle/payment-request.ts';
import { trackSendOutHandler } from './features/orders/send-out/track-send-out.effect.ts';
import { createHoldEnder, endFinishedHolds } from './features/quotes/reserve-quote.ts';
import { screenRecipientHandler } from './features/recipients/recipient-screening.ts';
import { simulatorHandler, wakeSimulator } from './features/sandbox/simulator.effect.ts';
import { screenCaseHandler } from './features/screening/screen-case.effect.ts';
import { screenKnownWallets } from './features/screening/screen-wallet.ts';
import { purgeOldVendorEvents } from './features/vendors/vendor-event.routes.ts';
import { createDeliveryDrain } from './features/webhooks/delivery-drain.ts';
import { purgeOldEvents } from './features/webhooks/event-stream.ts';
import { answersKeptSince, FORGET_ANSWERS } from './http/idempotency.ts';
import { repeatEvery } from './lib/repeat.ts';
import { createWorkerHealth } from './worker-health.ts';

/** The worker role: carries out intents and watches deadlines. */
export interface Worker {
  /** What it needs to do its work. */
  readonly checks: readonly Check[];
  start(): void;
  stop(): Promise<void>;
}

const DEADLINE_CHECK_MS = 500;
const SIMULATED_KYC_MS = 200;
const SWEEP_MS = 60_000;
const HOLDS_MS = 2_000;
const REPUTATION_MS = 2_000;
const WATCH_MS = 250;
const FOREIGN_TOKENS_MS = 5_000;
const BANK_MS = 1_000;
const GAP_CHECK_MS = 30_000;

export function createWorker(deps: Deps): Worker {
  const handlers: IntentHandler<never>[] = [
    offerOrderHandler({ ...deps, ...(deps.sandbox ? { onOffered: wakeSimulator } : {}) }),
    escrowFundingHandler(deps),
    ...escrowPayoutHandlers(deps),
    returnDepositHandler(deps),
    ...authorizationHandlers(deps),
    trackSendOutHandler(deps),
    requestPaymentHandler(deps),
    ...(deps.simulatedBridge ? [deps.simulatedBridge.solverHandler] : []),
    verifyUserHandler(deps),
    storeDocumentHandler(deps),
    deleteDocumentHandler(deps),
    screenRecipientHandler(deps),
    screenCaseHandler(deps),
    holdScreenedHandler(deps),
    ...bankingHandlers(deps),
    ...(deps.sandbox ? [simulatorHandler(deps)] : []),
  ];
  const health = createWorkerHealth(deps.metrics.registry);
  const intents = createIntentWorker(deps, handlers, {
    concurrency: deps.config.workerConcurrency,
    onTurn: health.loop('carrying out intents', DEADLINE_CHECK_MS),
  });
  const deliveries = createDeliveryDrain(deps, {
    onTurn: health.loop('delivering webhooks', DEADLINE_CHECK_MS),
  });
  const gasBalances = watchGasBalances({
    ...deps,
    chains: deps.chains.all,
    wallets: deps.hotWallets,
    registry: deps.metrics.registry,
  });
  const endHoldsOf = createHoldEnder(deps);
  const timers: NodeJS.Timeout[] = [];
  const running = new Set<Promise<unknown>>();

  function every(ms: number, what: string, run: () => Promise<unknown>): void {
    const turned = health.loop(what, ms);
    const turn = () => {
      const work = run().finally(() => {
        turned();
        running.delete(work);
      });
      running.add(work);
      return work;
    };
    timers.push(repeatEvery(ms, turn, (error) => deps.logger.error({ err: error }, `${what} failed`)));
  }

  return {
    checks: [databaseCheck(deps.db), ...health.checks],
    start() {
      deps.listener.on('intents_written', () => intents.wake());
      deps.listener.on('events_written', (partnerId) => deliveries.wake(partnerId));
      deps.listener.on('holds_due', (quoteId) => {
        const work = endHoldsOf(quoteId)
          .catch((error) => deps.logger.error({ err: error }, 'ending a hold failed'))
          .finally(() => running.delete(work));
        running.add(work);
      });
      deps.onClockMoved.push(
        () => intents.wake(),
        () => deliveries.wake(),
      );
      every(DEADLINE_CHECK_MS, 'expiring orders', () => expireOrders(deps));
      const responseSeconds = vendorResponseSeconds(deps);
      if (responseSeconds !== null) {
        every(DEADLINE_CHECK_MS, 'passing over silent vendors', () =>
          passOverSilentVendors(deps, responseSeconds),
        );
      }
      every(HOLDS_MS, 'ending holds', () => endFinishedHolds(deps));
      every(REPUTATION_MS, 'counting what became of orders', () =>
        countOrderOutcomes(deps, {
          no_escrow_funding_seconds: deps.config.orderTimeoutNoEscrowSeconds,
        }),
      );
      every(SWEEP_MS, 'forgetting old answers', () => {
        const keptSince = answersKeptSince(deps.clock.date());
        return Promise.all(FORGET_ANSWERS.map((forget) => deps.db.query(SYSTEM, forget, [keptSince])));
      });
      every(SWEEP_MS, 'forgetting old events', () => purgeOldEvents(deps, deps.config.eventRetentionDays));
      every(SWEEP_MS, 'forgetting what vendors were told', () => purgeOldVendorEvents(deps));
      every(SWEEP_MS, 'forgetting old request counts', () => deps.rateLimit.sweep());
      if (deps.sandbox) every(SIMULATED_KYC_MS, 'simulated KYC callbacks', deps.deliverSimulatedKyc);
      if (deps.bank) every(BANK_MS, 'looking what the bank received', () => followPayments(deps));
      for (const chain of deps.chains.all) {
        const handlers = [
          creditDeposits(deps),
          followReturns(deps),
          followAuthorizations(deps),
          ...(deps.simulatedBridge ? [deps.simulatedBridge.takeDeposits] : []),
        ];
        const watching = { ...deps, ...chain, handlers, rewindsAfterRollback: deps.sandbox };
        const turn = watchTurn(watching, health.chain(chain.settings.slug));
        every(WATCH_MS, `watching ${chain.settings.slug}`, turn);
        const foreignTokens = foreignTokenReader(watching);
        every(FOREIGN_TOKENS_MS, `looking for foreign tokens on ${chain.settings.slug}`, () =>
          foreignTokens.look(),
        );
        every(GAP_CHECK_MS, `closing nonce gaps on ${chain.settings.slug}`, () => fillNonceGaps(deps, chain));
      }
      every(SWEEP_MS, 'closing the watches of finished orders', () => closeFinishedWatches(deps));
      every(SWEEP_MS, 'screening wallets', () => screenKnownWallets(deps, deps.config.walletRescreenSeconds));
      every(SWEEP_MS, 'looking at gas balances', () => gasBalances.check());
      intents.start();
      deliveries.start();
    },
    async stop() {
      for (const timer of timers) clearInterval(timer);
      await Promise.allSettled([...running, intents.stop(), deliveries.stop()]);
    },
  };
}
