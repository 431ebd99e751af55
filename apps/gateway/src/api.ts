import type { FastifyInstance } from 'fastify';
import type { Deps } from './deps.ts';
import { registerConsoleAccountRoutes } from './features/console/account.routes.ts';
import { registerConsolePages } from './features/console/console-page.routes.ts';
import { registerCustomerRevealRoute } from './features/console/customer-reveal.routes.ts';
import { registerInvitationRoutes } from './features/console/invitation.routes.ts';
import { registerOwnKeyRoutes } from './features/console/own-keys.routes.ts';
import { registerOwnWidgetRoutes } from './features/console/own-widget.routes.ts';
import { registerConsoleSearchRoutes } from './features/console/search.routes.ts';
import { registerConsoleSessionRoutes } from './features/console/session.routes.ts';
import { registerTeamRoutes } from './features/console/team.routes.ts';
import { registerDiscoveryRoutes } from './features/discovery/reference.routes.ts';
import { registerEstimateRoutes } from './features/estimates/estimate.routes.ts';
import { registerExportRoutes } from './features/exports/export.routes.ts';
import { registerFiatAccountRoutes } from './features/fiat-accounts/fiat-account.routes.ts';
import { registerIdentificationRoutes } from './features/fiat-accounts/identification.routes.ts';
import { registerSandboxDepositRoute } from './features/fiat-accounts/sandbox-deposit.routes.ts';
import {
  type Check,
  createReadiness,
  databaseCheck,
  ratesCheck,
  registerHealthRoutes,
} from './features/health/health.routes.ts';
import { registerKycRoutes } from './features/kyc/kyc.routes.ts';
import { registerProviderRoutes } from './features/kyc/provider.routes.ts';
import { registerLiquidityRoutes } from './features/liquidity/liquidity.routes.ts';
import { registerOfferRoutes } from './features/offers/offer.routes.ts';
import { registerKeyRoutes } from './features/operators/accounts/keys.routes.ts';
import { registerPartnerAdminRoutes } from './features/operators/accounts/partners.routes.ts';
import { registerVendorAdminRoutes } from './features/operators/accounts/vendors.routes.ts';
import { registerWidgetOriginRoutes } from './features/operators/accounts/widget-origins.routes.ts';
import { registerApprovalRoutes } from './features/operators/approvals/approval.routes.ts';
import { registerCustomerRoutes } from './features/operators/compliance/customer.routes.ts';
import { registerRecipientReviewRoutes } from './features/operators/compliance/recipient-review.routes.ts';
import { registerScreeningCaseRoutes } from './features/operators/compliance/screening-case.routes.ts';
import { registerDepositRoutes } from './features/operators/orders/deposit.routes.ts';
import { registerFiatPaymentRoutes } from './features/operators/orders/fiat-payment.routes.ts';
import {
  registerEscrowSignatureRoutes,
  registerSendOutRoutes,
  registerSettledElsewhereRoutes,
} from './features/operators/orders/order-escrow.routes.ts';
import { registerOrderReadRoutes } from './features/operators/orders/order-read.routes.ts';
import { registerOrderReviewRoutes } from './features/operators/orders/order-review.routes.ts';
import { registerQueueRoutes } from './features/operators/queue/queue.routes.ts';
import {
  registerAuditRoutes,
  registerWebhookReplayRoutes,
} from './features/operators/system/audit.routes.ts';
import { registerEffectRoutes } from './features/operators/system/effects.routes.ts';
import { registerMarketRoutes } from './features/operators/system/market.routes.ts';
import { vendorResponseSeconds } from './features/orders/lifecycle/act-on-order.ts';
import { registerOrderRoutes } from './features/orders/lifecycle/order.routes.ts';
import { registerPaymentDetailsRoutes } from './features/payment-details/payment-details.routes.ts';
import { registerQuoteRoutes } from './features/quotes/quote.routes.ts';
import {
  registerRecipientRoutes,
  registerSandboxScreeningRoute,
} from './features/recipients/recipient.routes.ts';
import { registerReconciliationRoutes } from './features/reconciliation/reconciliation.routes.ts';
import { registerRequestLog } from './features/request-log/request-log.routes.ts';
import { registerSandboxRoutes } from './features/sandbox/sandbox.routes.ts';
import { registerStatisticsRoutes } from './features/statistics/statistics.routes.ts';
import { registerUserRoutes } from './features/users/user.routes.ts';
import { registerVendorEventRoutes } from './features/vendors/vendor-event.routes.ts';
import {
  registerVendorOrderRoutes,
  registerVendorReleaseRoute,
} from './features/vendors/vendor-order.routes.ts';
import { registerVendorReads } from './features/vendors/vendor-read.routes.ts';
import { registerWebhookRoutes } from './features/webhooks/webhook.routes.ts';
import { registerWebhookEndpointRoutes } from './features/webhooks/webhook-endpoint.routes.ts';
import { registerWidgetCustomerRoutes } from './features/widget/customer.routes.ts';
import { registerPlayground } from './features/widget/playground.routes.ts';
import { registerSessionRoutes } from './features/widget/session.routes.ts';
import { registerWidgetOrderRoutes } from './features/widget/widget-order.routes.ts';
import { registerWidgetPages } from './features/widget/widget-page.routes.ts';
import { registerWidgetSigningRoutes } from './features/widget/widget-signing.routes.ts';
import { createConsoleSessions } from './http/console-sessions.ts';
import { createServer } from './http/server.ts';
import { machineNow } from './lib/clock.ts';

/** The api role: every route of the program on one HTTP server. */
export interface Api {
  readonly app: FastifyInstance;
  /** What it needs to serve. */
  readonly checks: readonly Check[];
  listen(address: { host: string; port: number }): Promise<number>;
  /** Refuses new work, lets running requests end, then closes. */
  close(): Promise<void>;
}

export async function createApi(deps: Deps, baseUrl: string): Promise<Api> {
  const { config } = deps;
  const checks = [databaseCheck(deps.db), ratesCheck(deps.currencies, machineNow)];
  const readiness = createReadiness(deps.logger, checks);
  const consoleSessions = createConsoleSessions({
    ...deps,
    wall: machineNow,
    baseUrl,
    idleMs: config.consoleIdleMinutes * 60_000,
    requireSecondFactor: config.consoleRequireSecondFactor,
  });
  const app = await createServer({
    logger: deps.logger,
    ids: deps.ids,
    metrics: deps.metrics,
    accessLog: config.accessLog,
    bodyLimitBytes: config.bodyLimitBytes,
    trustedProxies: config.trustedProxies ?? [],
    principals: deps.principals,
    consoleSessions,
    rateLimit: deps.rateLimit,
    responseSealer: deps.sealer,
    secondApprovalAboveUsd: config.secondApprovalAboveUsd,
    partnerTimeSharePct: config.partnerTimeSharePct,
    requestsAtOnce: config.apiRequestsAtOnce,
    partnerPerMinute: config.rateLimitPartnerPerMinute,
    publicPerMinute: config.rateLimitPublicPerMinute,
    wrongKeysPerMinute: config.rateLimitWrongKeysPerMinute,
    baseUrl,
    sandbox: deps.sandbox,
    sandboxKeys: deps.sandbox ? deps.sandboxKeys : undefined,
    routes: async (server) => {
      registerRequestLog(server, { ...deps, wall: machineNow, keptDays: config.requestLogRetentionDays });
      registerHealthRoutes(server, readiness);
      registerDiscoveryRoutes(server, {
        ...deps.currenciesParts,
        offers: deps.offers,
        db: deps.db,
        wall: machineNow,
        editor: { ...deps, ownsCatalogue: deps.currenciesParts.ownsCatalogue },
      });
      registerUserRoutes(server, deps);
      registerKycRoutes(server, { ...deps, publicBaseUrl: baseUrl });
      registerProviderRoutes(server, deps);
      registerPaymentDetailsRoutes(server, deps);
      registerRecipientRoutes(server, deps);
      if (deps.sandbox) registerSandboxScreeningRoute(server, deps);
      registerIdentificationRoutes(server, deps);
      registerFiatAccountRoutes(server, deps);
      if (deps.simulatedBank) {
        registerSandboxDepositRoute(server, { ...deps, simulatedBank: deps.simulatedBank });
      }
      registerExportRoutes(server, deps);
      registerStatisticsRoutes(server, deps);
      registerCustomerRoutes(server, deps);
      registerRecipientReviewRoutes(server, deps);
      registerScreeningCaseRoutes(server, deps);
      registerAuditRoutes(server, deps);
      registerMarketRoutes(server, { ...deps, wall: machineNow });
      registerPartnerAdminRoutes(server, deps);
      registerWidgetOriginRoutes(server, deps);
      registerVendorAdminRoutes(server, deps);
      registerKeyRoutes(server, deps);
      const tokensOf = (chain: string) => deps.chains.get(chain).settings.tokens;
      registerLiquidityRoutes(server, deps);
      registerEstimateRoutes(server, {
        ...deps,
        tokensOf,
        defaultTerms: {
          tokens: deps.chains.all[0]?.settings.tokens ?? [],
          platformFeePct: config.platformFeePct,
        },
      });
      const quoteTools = { ...deps, tokensOf, quoteTtlSeconds: config.quoteTtlSeconds };
      registerQuoteRoutes(server, quoteTools);
      registerOrderRoutes(server, deps);
      registerSessionRoutes(server, { ...deps, publicBaseUrl: baseUrl });
      registerWidgetCustomerRoutes(server, { ...deps, publicBaseUrl: baseUrl });
      registerWidgetOrderRoutes(server, { ...quoteTools, publicBaseUrl: baseUrl });
      registerWidgetSigningRoutes(server, { ...quoteTools, publicBaseUrl: baseUrl });
      const vendorTools = { ...deps, vendorResponseSeconds: vendorResponseSeconds(deps) };
      registerVendorReads(server, vendorTools);
      registerVendorEventRoutes(server, vendorTools);
      registerVendorOrderRoutes(server, vendorTools);
      registerVendorReleaseRoute(server, deps);
      registerOfferRoutes(server, deps);
      registerOrderReadRoutes(server, deps);
      registerOrderReviewRoutes(server, deps);
      registerFiatPaymentRoutes(server, deps);
      registerEffectRoutes(server, deps);
      registerWebhookReplayRoutes(server, deps);
      registerReconciliationRoutes(server, deps);
      registerQueueRoutes(server, { ...deps, queueTargets: config.queueTargets });
      registerEscrowSignatureRoutes(server, deps);
      registerApprovalRoutes(server, deps);
      registerDepositRoutes(server, { ...deps, depositTolerancePct: config.depositTolerancePct });
      registerSendOutRoutes(server, deps);
      registerSettledElsewhereRoutes(server, deps);
      registerWebhookRoutes(server, deps);
      registerWebhookEndpointRoutes(server, deps);
      const consoleDeps = {
        ...deps,
        ...{ consoleSessions, wall: machineNow, baseUrl },
        idleMs: config.consoleIdleMinutes * 60_000,
        sessionMs: config.consoleSessionHours * 60 * 60_000,
        requireSecondFactor: config.consoleRequireSecondFactor,
        signInsPerMinute: config.consoleSignInsPerMinute,
      };
      registerConsoleSessionRoutes(server, consoleDeps);
      registerConsoleAccountRoutes(server, consoleDeps);
      registerTeamRoutes(server, consoleDeps);
      registerInvitationRoutes(server, consoleDeps);
      registerOwnKeyRoutes(server, deps);
      registerOwnWidgetRoutes(server, { ...deps, publicBaseUrl: baseUrl });
      registerCustomerRevealRoute(server, deps);
      registerConsoleSearchRoutes(server, deps);
      registerConsolePages(server, deps);
      const widgetFiles = registerWidgetPages(server, deps);
      if (deps.sandbox) registerPlayground(server, { ...deps, baseUrl, files: widgetFiles });
      if (deps.sandbox) registerSandboxRoutes(server, quoteTools);
    },
  });
  return {
    app,
    checks,
    async listen(address) {
      await app.listen(address);
      readiness.started();
      const bound = app.server.address();
      return typeof bound === 'object' && bound !== null ? bound.port : address.port;
    },
    async close() {
      readiness.stopping();
      await app.close();
    },
  };
}
