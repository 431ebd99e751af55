import * as addresses from '../address-values.ts';
import * as values from '../values.ts';
import { inProduction, optional, seconds, withDefault, worker } from '../variable.ts';

/** What orders cost and how long they wait. */
export const orders = {
  platformFeePct: withDefault(
    'PLATFORM_FEE_PCT',
    values.percentage,
    '0.5',
    'Fee of the platform, in percent of the crypto amount.',
  ),
  depositTolerancePct: withDefault(
    'DEPOSIT_TOLERANCE_PCT',
    values.percentage,
    '0.1',
    'How much of an off-ramp deposit may be missing for an operator to accept it, in percent of it. The platform’s fee of the order bears it, and is the most it can be.',
  ),
  quoteTtlSeconds: withDefault(
    'QUOTE_TTL_SECONDS',
    seconds,
    '60',
    'How long a quote can be initiated. The contract promises 60.',
  ),
  orderTimeoutNoVendorSeconds: withDefault(
    'ORDER_TIMEOUT_NO_VENDOR_SECONDS',
    seconds,
    '900',
    'An on-ramp order that no vendor accepts is cancelled after this time.',
  ),
  orderVendorResponseSeconds: optional(
    'ORDER_VENDOR_RESPONSE_SECONDS',
    seconds,
    'A vendor that has not accepted an order after this time is passed over and the next is asked. 300 when not set; in a sandbox, never, because simulated vendors wait when they are told to.',
    { example: '300' },
  ),
  orderTimeoutNoEscrowSeconds: withDefault(
    'ORDER_TIMEOUT_NO_ESCROW_SECONDS',
    seconds,
    '1800',
    'An on-ramp order whose escrow is not funded is cancelled after this time.',
  ),
  orderTimeoutNoFiatSeconds: withDefault(
    'ORDER_TIMEOUT_NO_FIAT_SECONDS',
    seconds,
    '3600',
    'An on-ramp order for which no fiat is sent is cancelled after this time.',
  ),
  orderTimeoutNoAuthorizationSeconds: withDefault(
    'ORDER_TIMEOUT_NO_AUTHORIZATION_SECONDS',
    seconds,
    '1800',
    'An off-ramp order whose crypto transfer is not authorized is cancelled after this time.',
  ),
  reconciliationSeconds: withDefault(
    'RECONCILIATION_SECONDS',
    seconds,
    '300',
    'How often a worker compares the books with the chain, the bank, orders, events and effects by itself. What differs is in the operator’s queue.',
    { roles: worker },
  ),
};

export const market = {
  rateSources: withDefault(
    'RATE_SOURCES',
    values.rateSources,
    { sandbox: 'simulated', production: 'ecb,kraken' },
    'Where rates come from; a JSON feed answers `{ "rates": { "NGN": 1540.2 } }`, what one dollar costs.',
    {
      example: 'ecb,kraken,https://rates.example.com/usd.json',
      refuse: inProduction((sources) =>
        sources.includes('simulated')
          ? 'must not be simulated in production: those are not market rates'
          : undefined,
      ),
    },
  ),
  currenciesUrl: optional(
    'CURRENCIES_URL',
    addresses.httpUrl,
    'Currencies backend to call. Without it the one inside this process answers.',
    { example: 'http://currencies:8090' },
  ),
  offersUrl: optional(
    'OFFERS_URL',
    addresses.httpUrl,
    'Offers backend to call. Without it offers are kept in this deployment’s own database.',
    { example: 'http://offers:8091' },
  ),
};

export const webhooks = {
  dnsServers: optional(
    'DNS_SERVERS',
    addresses.dnsServers,
    'Name servers that partners’ webhook hosts are looked up at, with commas between them; those of the system when not set.',
    { example: '10.0.0.2,[2001:db8::53]:5353' },
  ),
  webhookAllowLoopback: withDefault(
    'WEBHOOK_ALLOW_LOOPBACK',
    values.flag,
    { sandbox: 'true', production: 'false' },
    'Whether webhooks may go to this machine itself.',
    {
      refuse: inProduction((allowed) =>
        allowed
          ? 'must not be true in production: a partner could reach services of this machine'
          : undefined,
      ),
    },
  ),
  webhookPorts: withDefault(
    'WEBHOOK_PORTS',
    values.portsOrAny,
    { sandbox: 'any', production: '443,8443' },
    'Ports of public hosts that webhooks may go to.',
    { example: '443,8443,9443' },
  ),
  eventRetentionDays: withDefault(
    'EVENT_RETENTION_DAYS',
    // Longer than the ten attempts of a delivery take, so that none is purged on its way.
    values.wholeNumber(7, 3650),
    '90',
    'How long partners can read events and their deliveries. What still waits to be delivered is kept longer.',
  ),
  requestLogRetentionDays: withDefault(
    'REQUEST_LOG_RETENTION_DAYS',
    values.wholeNumber(0, 365),
    '7',
    'How long partners and vendors can read the log of their API requests. 0: none are logged.',
  ),
};
