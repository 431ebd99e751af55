import { watchGasBalances } from './chain/transactions/hot-wallets.ts';
import { fillNonceGaps } from './chain/transactions/nonce-gaps.ts';
import { foreignTokenReader } from './chain/watcher/foreign-tokens.ts';
import { watchTurn } from './chain/watcher/watcher.ts';
import { SYSTEM } from './db/database.ts';
import type { Deps } from './deps.ts';
import { type IntentHandlers, requireHandlers } from './engine/intent-handler.ts';
import { createIntentWorker } from './engine/intent-worker.ts';
import { purgeConsole } from './features/console/housekeeping.ts';
import { sendInvitationHandler } from './features/console/invitations.ts';
import { bankingHandlers, followPayments } from './features/fiat-accounts/payments.effect.ts';
import { type Check, databaseCheck } from './features/health/health.routes.ts';
import { deleteDocumentHandler, storeDocumentHandler } from './features/kyc/documents/documents.ts';
import { verifyUserHandler } from './features/kyc/verification.effect.ts';
import { countOrderOutcomes } from './features/offers/reputation.ts';
import { keepApprovals } from './features/operators/approvals/approval-housekeeping.ts';
import { publishQueue } from './features/operators/queue/queue-metrics.ts';
import { followReturns, returnDepositHandler } from './features/orders/deposits/return-deposit.effect.ts';
import {
  authorizationHandlers,
  bookHeldDeposits,
  creditDeposits,
  escrowFundingHandler,
  escrowPayoutHandlers,
  followAuthorizations,
} from './features/orders/escrow/escrow.effect.ts';
import { closeFinishedWatches } from './features/orders/escrow/reconcile-escrows.ts';
import { expireOrders, vendorResponseSeconds } from './features/orders/lifecycle/act-on-order.ts';
import {
  holdScreenedHandler,
  offerOrderHandler,
  passOverSilentVendors,
} from './features/orders/lifecycle/offer-order.effect.ts';
import { requestPaymentHandler } from './features/orders/lifecycle/payment-request.ts';
import { trackSendOutHandler } from './features/orders/send-out/track-send-out.effect.ts';
import { createReservationEnder, endFinishedReservations } from './features/quotes/claim-quote.ts';
import { screenRecipientHandler } from './features/recipients/recipient-screening.ts';
import { scheduledReconciliation } from './features/reconciliation/reconcile.ts';
import { purgeOldRequests } from './features/request-log/write-requests.ts';
import { faucetHandler } from './features/sandbox/faucet.ts';
import { simulatorHandler, wakeSimulator } from './features/sandbox/simulator.effect.ts';
import { screenCaseHandler } from './features/screening/screen-case.effect.ts';
import { screenKnownWallets } from './features/screening/screen-wallet.ts';
import { purgeOldVendorEvents } from './features/vendors/vendor-event.routes.ts';
import { createDeliveryDrain } from './features/webhooks/delivery-drain.ts';
import { purgeOldEvents } from './features/webhooks/event-stream.ts';
import { sendCodeHandler, sendOrderHandler } from './features/widget/mail/mail.effect.ts';
import { purgeOldSessions } from './features/widget/sessions.ts';
import { PURGE_RESPONSES, responsesKeptSince } from './http/idempotency.store.ts';
import { machineNow } from './lib/clock.ts';
import { repeatEvery } from './lib/pacing.ts';
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
const RESERVATIONS_MS = 2_000;
const REPUTATION_MS = 2_000;
const WATCH_MS = 250;
const FOREIGN_TOKENS_MS = 5_000;
const BANK_MS = 1_000;
const GAP_CHECK_MS = 30_000;
const APPROVALS_MS = 5_000;
const QUEUE_MS = 15_000;

type Every = (ms: number, what: string, run: () => Promise<unknown>) => void;

function watchChains(deps: Deps, onCaughtUp: (slug: string) => () => void, every: Every): void {
  for (const chain of deps.chains.all) {
    const { slug } = chain.settings;
    const handlers = [
      creditDeposits(deps),
      followReturns(deps),
      followAuthorizations(deps),
      ...(deps.simulatedBridge ? [deps.simulatedBridge.takeDeposits] : []),
    ];
    const watching = {
      ...deps,
      ...chain,
      handlers,
      bookHeldDeposits: bookHeldDeposits(deps),
      rewindsAfterRollback: deps.sandbox,
    };
    every(WATCH_MS, `watching ${slug}`, watchTurn(watching, onCaughtUp(slug)));
    const foreignTokens = foreignTokenReader(watching);
    every(FOREIGN_TOKENS_MS, `looking for foreign tokens on ${slug}`, () => foreignTokens.look());
    every(GAP_CHECK_MS, `closing nonce gaps on ${slug}`, () => fillNonceGaps(deps, chain));
  }
}

export function createWorker(deps: Deps): Worker {
  const handlers = intentHandlers(deps);
  requireHandlers(handlers, {
    bank: deps.bank !== undefined,
    mail: deps.mail !== undefined,
    sandbox: deps.sandbox,
    'simulated bridge': deps.simulatedBridge !== undefined,
  });
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
  const { reconciliationSeconds } = deps.config;
  const reconcile = scheduledReconciliation(
    { ...deps, wall: machineNow, registry: deps.metrics.registry },
    reconciliationSeconds,
  );
  const reconcileMs = Math.min(reconciliationSeconds * 1_000, SWEEP_MS);
  const endReservationsOf = createReservationEnder(deps);
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
      deps.listener.on('deliveries_written', (endpointId) => deliveries.wake(endpointId));
      deps.listener.on('reservations_due', (quoteId) => {
        const work = endReservationsOf(quoteId)
          .catch((error) => deps.logger.error({ err: error }, 'ending a reservation failed'))
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
      every(RESERVATIONS_MS, 'ending reservations', () => endFinishedReservations(deps));
      every(REPUTATION_MS, 'counting what became of orders', () => countOrderOutcomes(deps));
      every(SWEEP_MS, 'purging old responses', () => {
        const keptSince = responsesKeptSince(deps.clock.date());
        return Promise.all(PURGE_RESPONSES.map((purge) => deps.db.query(SYSTEM, purge, [keptSince])));
      });
      every(SWEEP_MS, 'purging old events', () => purgeOldEvents(deps, deps.config.eventRetentionDays));
      every(SWEEP_MS, 'purging old vendor events', () => purgeOldVendorEvents(deps));
      every(SWEEP_MS, 'purging old logged requests', () =>
        purgeOldRequests({ db: deps.db, wall: machineNow }, deps.config.requestLogRetentionDays),
      );
      every(APPROVALS_MS, 'closing approvals whose time is over', () => keepApprovals(deps));
      every(QUEUE_MS, 'counting the queue', () =>
        publishQueue({ ...deps, queueTargets: deps.config.queueTargets }),
      );
      every(SWEEP_MS, 'purging old widget sessions', () => purgeOldSessions(deps));
      every(SWEEP_MS, 'purging old console sessions', () => purgeConsole({ db: deps.db, wall: machineNow }));
      every(SWEEP_MS, 'purging old request counts', () => deps.rateLimit.sweep());
      if (deps.sandbox) every(SIMULATED_KYC_MS, 'simulated KYC callbacks', deps.deliverSimulatedKyc);
      if (deps.bank) every(BANK_MS, 'looking what the bank received', () => followPayments(deps));
      watchChains(deps, health.chain, every);
      every(SWEEP_MS, 'closing the watches of finished orders', () => closeFinishedWatches(deps));
      every(SWEEP_MS, 'screening wallets', () => screenKnownWallets(deps, deps.config.walletRescreenSeconds));
      every(SWEEP_MS, 'looking at gas balances', () => gasBalances.check());
      every(reconcileMs, 'reconciling the books', reconcile);
      intents.start();
      deliveries.start();
    },
    async stop() {
      for (const timer of timers) clearInterval(timer);
      await Promise.allSettled([...running, intents.stop(), deliveries.stop()]);
    },
  };
}

function intentHandlers(deps: Deps): IntentHandlers {
  return {
    'vendor.offer-order': offerOrderHandler({
      ...deps,
      ...(deps.sandbox ? { onOffered: wakeSimulator } : {}),
    }),
    'vendor.request-fiat-payment': requestPaymentHandler(deps),
    'escrow.deploy-and-watch': escrowFundingHandler(deps),
    ...escrowPayoutHandlers(deps),
    'escrow.return-deposit': returnDepositHandler(deps),
    ...authorizationHandlers(deps),
    'bridge.track': trackSendOutHandler(deps),
    ...bankingHandlers(deps),
    'kyc.verify': verifyUserHandler(deps),
    'kyc.store-document': storeDocumentHandler(deps),
    'kyc.delete-document': deleteDocumentHandler(deps),
    'recipient.screen': screenRecipientHandler(deps),
    'screening.screen': screenCaseHandler(deps),
    'screening.hold-orders': holdScreenedHandler(deps),
    'mail.send-code': deps.mail ? sendCodeHandler({ ...deps, mail: deps.mail }) : null,
    'mail.send-invitation': deps.mail
      ? sendInvitationHandler({ ...deps, mail: deps.mail, wall: machineNow })
      : null,
    'mail.send-order': deps.mail ? sendOrderHandler({ ...deps, mail: deps.mail }) : null,
    'sandbox.act': deps.sandbox ? simulatorHandler(deps) : null,
    'sandbox.faucet': deps.faucet ? faucetHandler({ ...deps, faucet: deps.faucet }) : null,
    'sandbox.solver-payout': deps.simulatedBridge?.solverHandler ?? null,
  };
}
