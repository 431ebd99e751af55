import type { ValueType } from './config-values.ts';
import * as values from './config-values.ts';
import { LOG_FORMATS, LOG_LEVELS } from './lib/logger.ts';

const ENVIRONMENTS = ['sandbox', 'production'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

export const ROLES = ['api', 'worker'] as const;
export type Role = (typeof ROLES)[number];

interface VariableOptions<T> {
  readonly example?: string;
  /** Its value is never printed. */
  readonly secret?: boolean;
  readonly requiredInProduction?: boolean;
  /** Variables any of which makes up for this one where it is required. */
  readonly alternatives?: readonly string[];
  /** Which roles read it; both unless said. */
  readonly roles?: readonly Role[];
  /** What is wrong with a value in an environment, if anything is. */
  refuse?(value: T, environment: Environment): string | undefined;
}

/** Given as text, so that it goes through the same parser and reads the same in the reference. */
type DefaultText = string | Readonly<Record<Environment, string>>;

export interface Variable<T> extends VariableOptions<T> {
  readonly name: string;
  readonly type: ValueType<T>;
  readonly default?: DefaultText;
  readonly description: string;
}

function withDefault<T>(
  name: string,
  type: ValueType<T>,
  defaultText: DefaultText,
  description: string,
  options: VariableOptions<T> = {},
): Variable<T> & { readonly default: DefaultText } {
  return { name, type, default: defaultText, description, ...options };
}

function optional<T>(
  name: string,
  type: ValueType<T>,
  description: string,
  options: VariableOptions<T> = {},
): Variable<T> & { readonly default?: undefined } {
  return { name, type, description, ...options };
}

const inProduction =
  <T>(problem: (value: T) => string | undefined) =>
  (value: T, environment: Environment) =>
    environment === 'production' ? problem(value) : undefined;

const seconds = values.wholeNumber(1, 2_592_000);
const limit = values.wholeNumber(0, 1_000_000_000);
const api: readonly Role[] = ['api'];
const worker: readonly Role[] = ['worker'];

/** The whole configuration: one entry is all it takes to add a variable, document it and have it typed. */
export const VARIABLES = {
  environment: withDefault(
    'CAUSEWAY_ENV',
    values.oneOf(...ENVIRONMENTS),
    'sandbox',
    'A sandbox brings its own database, chains, keys and simulated actors; production refuses all of them.',
    { example: 'production' },
  ),
  causewayHome: withDefault(
    'CAUSEWAY_HOME',
    values.path,
    '.causeway',
    'Folder of a sandbox’s data and of `sandbox.json`.',
    { example: '/var/lib/causeway' },
  ),

  host: withDefault(
    'HOST',
    values.text,
    { sandbox: '127.0.0.1', production: '0.0.0.0' },
    'Address the API listens on.',
    { roles: api },
  ),
  port: withDefault('PORT', values.port, '8080', 'Port the API listens on.', { roles: api }),
  publicBaseUrl: optional(
    'PUBLIC_BASE_URL',
    values.baseUrl,
    'Address under which partners reach this deployment. A sandbox takes `http://localhost:PORT` when it is not set.',
    {
      example: 'https://pay.example.com',
      requiredInProduction: true,
      refuse: inProduction((url) =>
        url.startsWith('https:') ? undefined : 'must begin with https:// in production',
      ),
    },
  ),
  trustedProxies: optional(
    'TRUSTED_PROXIES',
    values.addressRanges,
    'Proxies whose `X-Forwarded-For` is believed. Without it the address of the connection counts.',
    { example: '10.0.0.0/8,192.168.1.7', roles: api },
  ),
  bodyLimitBytes: withDefault(
    'BODY_LIMIT_BYTES',
    values.wholeNumber(1024, 104_857_600),
    '1048576',
    'Largest request body.',
    { roles: api },
  ),
  rateLimitPartnerPerMinute: withDefault(
    'RATE_LIMIT_PARTNER_PER_MINUTE',
    values.wholeNumber(1, 10_000_000),
    { sandbox: '600000', production: '6000' },
    'Requests a minute for each partner, over all processes.',
    { roles: api },
  ),
  partnerTimeSharePct: withDefault(
    'PARTNER_TIME_SHARE_PCT',
    values.wholeNumber(0, 100),
    { sandbox: '0', production: '20' },
    'Share of its time that a process works on the requests of one partner while it serves other partners too; more of them wait. 0 for no bounds.',
    { roles: api },
  ),
  apiRequestsAtOnce: withDefault(
    'API_REQUESTS_AT_ONCE',
    values.wholeNumber(0, 10_000),
    '64',
    'Requests that a process works on at a time. Where it stays more, further ones are refused with 503 until it is less. 0 for no bounds.',
    { roles: api },
  ),
  apiProcesses: withDefault(
    'API_PROCESSES',
    values.processCount,
    '1',
    'Processes that serve the API, on one port; `auto` for as many as the machine has cores. They share DATABASE_POOL_SIZE. The worker then has a process of its own.',
    { example: 'auto', roles: api },
  ),
  openOrdersPerPartner: withDefault(
    'OPEN_ORDERS_PER_PARTNER',
    limit,
    '1000',
    'Orders that a partner may have open at a time. An operator may give a partner another limit, here and below.',
    { roles: api },
  ),
  openOrdersPerCustomer: withDefault(
    'OPEN_ORDERS_PER_CUSTOMER',
    limit,
    '100',
    'Orders that one customer of a partner may have open at a time.',
    { roles: api },
  ),
  heldValuePerPartnerUsd: withDefault(
    'HELD_VALUE_PER_PARTNER_USD',
    limit,
    '1000000',
    'Dollars that a partner’s open orders may be worth together. Keep it well below what your vendors have on offer in one corridor: open orders bind that.',
    { roles: api },
  ),
  heldValuePerCustomerUsd: withDefault(
    'HELD_VALUE_PER_CUSTOMER_USD',
    limit,
    '250000',
    'Dollars that the open orders of one customer may be worth together.',
    { roles: api },
  ),
  secondApprovalAboveUsd: withDefault(
    'SECOND_APPROVAL_ABOVE_USD',
    values.dollarsOrOff,
    '10000',
    'An operator’s decision that moves more than this is carried out only when another person makes it too; holds for API keys as well. `0` for every decision that moves money, `off` for none.',
    { roles: api },
  ),
  rateLimitPublicPerMinute: withDefault(
    'RATE_LIMIT_PUBLIC_PER_MINUTE',
    values.wholeNumber(1, 10_000_000),
    { sandbox: '600000', production: '1200' },
    'Requests a minute for each address (an IPv6 /64 is one) on public endpoints, over all processes.',
    { roles: api },
  ),
  rateLimitWrongKeysPerMinute: withDefault(
    'RATE_LIMIT_WRONG_KEYS_PER_MINUTE',
    values.wholeNumber(1, 10_000_000),
    { sandbox: '6000', production: '30' },
    'Wrong API keys a minute for each address (an IPv6 /64 is one), over all processes. Good keys pass whatever else comes from their address.',
    { roles: api },
  ),
  widgetSessionsPerKeyPerMinute: withDefault(
    'WIDGET_SESSIONS_PER_KEY_PER_MINUTE',
    values.wholeNumber(1, 10_000_000),
    { sandbox: '600000', production: '600' },
    'Widget sessions that one publishable key may begin in a minute, over all processes.',
    { roles: api },
  ),
  widgetSessionsPerAddressPerMinute: withDefault(
    'WIDGET_SESSIONS_PER_ADDRESS_PER_MINUTE',
    values.wholeNumber(1, 10_000_000),
    { sandbox: '600000', production: '30' },
    'Widget sessions that one address (an IPv6 /64 is one) may begin or open in a minute, over all processes.',
    { roles: api },
  ),
  widgetCodesPerAddressPerMinute: withDefault(
    'WIDGET_CODES_PER_ADDRESS_PER_MINUTE',
    values.wholeNumber(1, 10_000_000),
    { sandbox: '600000', production: '10' },
    'E-mail codes that one address (an IPv6 /64 is one) may ask for in a minute, over all processes.',
    { roles: api },
  ),
  widgetCodesPerSessionPerHour: withDefault(
    'WIDGET_CODES_PER_SESSION_PER_HOUR',
    values.wholeNumber(1, 10_000_000),
    { sandbox: '1000', production: '10' },
    'E-mail codes that one widget session may ask for in an hour, whatever the address.',
    { roles: api },
  ),
  widgetCodesPerMailboxPerHour: withDefault(
    'WIDGET_CODES_PER_MAILBOX_PER_HOUR',
    values.wholeNumber(1, 10_000_000),
    { sandbox: '1000', production: '10' },
    'E-mail codes that are sent to one mailbox in an hour for one partner, over all sessions.',
    { roles: api },
  ),
  consoleRequireSecondFactor: withDefault(
    'CONSOLE_REQUIRE_SECOND_FACTOR',
    values.flag,
    { sandbox: 'false', production: 'true' },
    'Whether users of the console need a second factor. One without can sign in only to add it.',
    { roles: api },
  ),
  consoleIdleMinutes: withDefault(
    'CONSOLE_IDLE_MINUTES',
    values.wholeNumber(5, 1_440),
    '60',
    'A session of the console ends by itself when it was not used for so long.',
    { roles: api },
  ),
  consoleSessionHours: withDefault(
    'CONSOLE_SESSION_HOURS',
    values.wholeNumber(1, 168),
    '12',
    'How long a session of the console lasts at most; then its user signs in again.',
    { roles: api },
  ),
  consoleSignInsPerMinute: withDefault(
    'CONSOLE_SIGN_INS_PER_MINUTE',
    values.wholeNumber(1, 10_000_000),
    { sandbox: '6000', production: '20' },
    'Attempts to sign in to the console, and to use an invitation, that one address (an IPv6 /64 is one) has in a minute, over all processes.',
    { roles: api },
  ),
  shutdownGraceSeconds: withDefault(
    'SHUTDOWN_GRACE_SECONDS',
    values.wholeNumber(0, 600),
    '15',
    'How long a stopping process waits for the work it has begun.',
  ),

  databaseUrl: optional(
    'DATABASE_URL',
    values.postgresUrl,
    'PostgreSQL to use. A sandbox starts its own when it is not set.',
    { example: 'postgres://causeway:…@db:5432/causeway', secret: true, requiredInProduction: true },
  ),
  databaseDirectUrl: optional(
    'DATABASE_DIRECT_URL',
    values.postgresUrl,
    'PostgreSQL itself, where `DATABASE_URL` leads to a pooler in transaction mode: notifications and migrations go there.',
    { example: 'postgres://causeway:…@db:5432/causeway', secret: true },
  ),
  migrateAtStart: withDefault(
    'MIGRATE_AT_START',
    values.flag,
    'true',
    'Whether a starting process applies missing migrations. With `false` it refuses to start until `npm start -- migrate` has been run.',
    {
      refuse: (allowed, environment) =>
        environment === 'sandbox' && !allowed
          ? 'is for production; a sandbox migrates its database when it starts'
          : undefined,
    },
  ),
  databasePoolSize: withDefault(
    'DATABASE_POOL_SIZE',
    values.wholeNumber(1, 500),
    '10',
    'Most database connections that a process opens for each of its three roles (partner, vendor, system); one more listens for notifications.',
  ),

  chainRpcUrls: optional(
    'CHAIN_RPC_URLS',
    values.chainRpcUrls,
    'Chains of a sandbox in place of its local ones. Contracts are deployed there when absent.',
    {
      example: 'base-mainnet=http://127.0.0.1:8545,arbitrum-one=http://127.0.0.1:8546',
      secret: true,
      refuse: inProduction(() => 'is for sandboxes; describe the chains of production in CHAINS_FILE'),
    },
  ),
  chainsFile: optional(
    'CHAINS_FILE',
    values.path,
    'JSON file that describes the chains of production; see “Chains file” in the configuration reference.',
    {
      example: '/etc/causeway/chains.json',
      requiredInProduction: true,
      refuse: (_, environment) =>
        environment === 'sandbox'
          ? 'is for production; name the chains of a sandbox in CHAIN_RPC_URLS'
          : undefined,
    },
  ),
  serviceSignerKey: optional(
    'SERVICE_SIGNER_KEY',
    values.privateKey,
    'Private key that signs for the service on chain; better kept in SERVICE_SIGNER_KEYSTORE or behind SERVICE_SIGNER_URL. A sandbox makes its own.',
    {
      example: '0x…',
      secret: true,
      requiredInProduction: true,
      alternatives: ['SERVICE_SIGNER_KEYSTORE', 'SERVICE_SIGNER_URL'],
      refuse: inProduction((key) =>
        values.isDevelopmentKey(key) || values.looksTyped(key.slice(2), 8)
          ? 'is a publicly known or guessable key: anyone who knows it owns every escrow; use a key of your own'
          : undefined,
      ),
    },
  ),

  serviceSignerKeystore: optional(
    'SERVICE_SIGNER_KEYSTORE',
    values.path,
    'Encrypted keystore file (Web3 secret storage) with the service’s key, in place of SERVICE_SIGNER_KEY.',
    { example: '/run/secrets/service-key.json' },
  ),
  serviceSignerKeystorePassword: optional(
    'SERVICE_SIGNER_KEYSTORE_PASSWORD',
    values.text,
    'Opens SERVICE_SIGNER_KEYSTORE.',
    { secret: true },
  ),
  serviceSignerUrl: optional(
    'SERVICE_SIGNER_URL',
    values.httpUrl,
    'Key service that signs digests with a key it never gives away, in place of SERVICE_SIGNER_KEY.',
    { example: 'https://keys.internal' },
  ),
  serviceSignerKeyId: optional(
    'SERVICE_SIGNER_KEY_ID',
    values.text,
    'The key to use at SERVICE_SIGNER_URL.',
    { example: 'causeway-service' },
  ),
  serviceSignerToken: optional(
    'SERVICE_SIGNER_TOKEN',
    values.text,
    'Sent to SERVICE_SIGNER_URL as a bearer token.',
    { secret: true },
  ),
  hotWalletsFile: optional(
    'HOT_WALLETS_FILE',
    values.path,
    'JSON file that names the wallets that pay for transactions; see “Hot wallets file” in the configuration reference. Without it the service’s own key pays.',
    {
      example: '/etc/causeway/hot-wallets.json',
      refuse: (_, environment) =>
        environment === 'sandbox' ? 'is for production; a sandbox pays with its own key' : undefined,
    },
  ),
  bridgeUrl: optional(
    'BRIDGE_URL',
    values.httpUrl,
    'Bridge that carries send-outs to other chains. A sandbox has its own; without one there is no send-out.',
    { example: 'https://bridge.example.com' },
  ),
  bridgeToken: optional('BRIDGE_TOKEN', values.text, 'Sent to BRIDGE_URL as a bearer token.', {
    secret: true,
  }),
  bridgeReviewAfterSeconds: withDefault(
    'BRIDGE_REVIEW_AFTER_SECONDS',
    seconds,
    '1800',
    'A send-out whose bridge was paid and has neither paid out nor paid back is held for an operator this long after the bridge’s quote expired. It never fails by itself: the money is with the bridge.',
  ),

  dataEncryptionKey: optional(
    'DATA_ENCRYPTION_KEY',
    values.encryptionKey,
    'Key that encrypts personal data and secrets at rest. A sandbox makes its own.',
    {
      example: '$(openssl rand -base64 32)',
      secret: true,
      requiredInProduction: true,
      refuse: inProduction((key) =>
        values.looksTyped(key, 8) ? 'is guessable; make one with: openssl rand -base64 32' : undefined,
      ),
    },
  ),
  dataEncryptionKeysPrevious: optional(
    'DATA_ENCRYPTION_KEYS_PREVIOUS',
    values.encryptionKeys,
    'Keys that DATA_ENCRYPTION_KEY has replaced; they decrypt and never encrypt. `npm run keys:rotate` makes them superfluous.',
    { secret: true },
  ),
  operatorKey: optional(
    'OPERATOR_KEY',
    values.operatorKey,
    'First operator key, installed when the database has none. A sandbox makes its own.',
    {
      example: 'cw_operator_…',
      secret: true,
      requiredInProduction: true,
      roles: api,
      refuse: inProduction((key) =>
        values.looksTyped(key.slice('cw_operator_'.length), 8)
          ? 'is a sandbox or guessable value; make one with: echo "cw_operator_$(openssl rand -hex 24)"'
          : undefined,
      ),
    },
  ),

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
  queueTargets: withDefault(
    'QUEUE_TARGETS',
    values.queueTargets,
    '',
    'How soon an operator should decide, in minutes by kind of the queue: `kyc=480,hold=60`. What is not named keeps its own: kyc 480, proof 30, hold 120, dispute 1440, recipient_screening and screening_case 240, deposit 240, fiat_payment 120, offer 1440, effect 30, reconciliation 60.',
    { roles: api, example: 'kyc=480,hold=60' },
  ),
  reconciliationSeconds: withDefault(
    'RECONCILIATION_SECONDS',
    seconds,
    '300',
    'How often a worker compares the books with the chain, the bank, orders, events and effects by itself. What differs is in the operator’s queue.',
    { roles: worker },
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
  currenciesUrl: optional(
    'CURRENCIES_URL',
    values.httpUrl,
    'Currencies backend to call. Without it the one inside this process answers.',
    { example: 'http://currencies:8090' },
  ),
  offersUrl: optional(
    'OFFERS_URL',
    values.httpUrl,
    'Offers backend to call. Without it offers are kept in this deployment’s own database.',
    { example: 'http://offers:8091' },
  ),

  mailUrl: optional(
    'MAIL_URL',
    values.mailUrl,
    'SMTP server that sends the widget’s e-mails: `smtps://` for TLS from the start, `smtp://` for STARTTLS, which a server elsewhere has to offer. Without it production knows no customer at the widget by e-mail, and says so when it starts. A sandbox sends none.',
    {
      example: 'smtps://user:…@mail.example.com',
      secret: true,
      refuse: (_, environment) =>
        environment === 'sandbox' ? 'is for production; a sandbox keeps its e-mails to itself' : undefined,
    },
  ),
  mailFrom: optional(
    'MAIL_FROM',
    values.mailAddress,
    'Address that the widget’s e-mails come from, beside the name of the partner. Needed with MAIL_URL.',
    { example: 'no-reply@example.com' },
  ),
  documentsFolder: optional(
    'DOCUMENTS_FOLDER',
    values.path,
    'Folder of customers’ documents, encrypted; `documents` in CAUSEWAY_HOME when neither it nor a bucket is set.',
    { example: '/var/lib/causeway/documents' },
  ),
  documentsS3Endpoint: optional(
    'DOCUMENTS_S3_ENDPOINT',
    values.httpUrl,
    'S3-compatible store for customers’ documents in place of a folder.',
    { example: 'https://s3.eu-central-1.amazonaws.com' },
  ),
  documentsS3Bucket: optional('DOCUMENTS_S3_BUCKET', values.text, 'Bucket of the documents.'),
  documentsS3Region: withDefault(
    'DOCUMENTS_S3_REGION',
    values.text,
    'us-east-1',
    'Region that requests to the document store are signed for.',
  ),
  documentsS3AccessKeyId: optional(
    'DOCUMENTS_S3_ACCESS_KEY_ID',
    values.text,
    'Access key of the document store.',
    { secret: true },
  ),
  documentsS3SecretAccessKey: optional(
    'DOCUMENTS_S3_SECRET_ACCESS_KEY',
    values.text,
    'Secret key of the document store.',
    { secret: true },
  ),
  sumsubAppToken: optional(
    'SUMSUB_APP_TOKEN',
    values.text,
    'App token of Sumsub. Without it every KYC submission of production goes to manual review.',
    { secret: true },
  ),
  sumsubSecretKey: optional('SUMSUB_SECRET_KEY', values.text, 'Key that signs requests to Sumsub.', {
    secret: true,
  }),
  sumsubWebhookSecret: optional(
    'SUMSUB_WEBHOOK_SECRET',
    values.text,
    'Secret that signs Sumsub’s webhooks to `/api/v1/kyc/provider/callback`.',
    { secret: true },
  ),
  sumsubLevelName: withDefault(
    'SUMSUB_LEVEL_NAME',
    values.text,
    'basic-kyc-level',
    'Verification level, as it is named in Sumsub.',
  ),
  sumsubBaseUrl: withDefault(
    'SUMSUB_BASE_URL',
    values.httpUrl,
    'https://api.sumsub.com',
    'Address of Sumsub’s API.',
  ),
  sanctionsListFile: optional(
    'SANCTIONS_LIST_FILE',
    values.path,
    'Sanctions list (OFAC SDN or OpenSanctions) that recipients, account holders and wallets are screened against. Without it and without YENTE_URL every recipient of production goes to review.',
    { example: '/var/lib/causeway/sdn.xml' },
  ),
  yenteUrl: optional(
    'YENTE_URL',
    values.httpUrl,
    'OpenSanctions’ matching API (a yente server) that screens the names of recipients and account holders, instead of SANCTIONS_LIST_FILE. While it does not answer, they stay pending.',
    { example: 'http://yente.internal:8000' },
  ),
  yenteDataset: withDefault(
    'YENTE_DATASET',
    values.text,
    'sanctions',
    'Source or collection that the yente server has indexed.',
    { roles: worker },
  ),
  yenteApiKey: optional('YENTE_API_KEY', values.text, 'Sent to YENTE_URL as `Authorization: ApiKey …`.', {
    secret: true,
    roles: worker,
  }),
  yenteThreshold: withDefault(
    'YENTE_THRESHOLD',
    values.score,
    '0.7',
    'Score from which a result of yente is a match and the name goes to review.',
    { roles: worker },
  ),
  yenteTimeoutSeconds: withDefault(
    'YENTE_TIMEOUT_SECONDS',
    values.wholeNumber(1, 60),
    '5',
    'An answer of yente that takes longer is none; the name is screened again later.',
    { roles: worker },
  ),
  sanctionsAddressesFile: optional(
    'SANCTIONS_ADDRESSES_FILE',
    values.path,
    'File that lists the wallets that may neither pay nor be paid, in any format; those of SANCTIONS_LIST_FILE are read besides. Without it a small selection of the SDN list counts.',
    { example: '/var/lib/causeway/addresses.txt' },
  ),
  walletScreeningUrl: optional(
    'WALLET_SCREENING_URL',
    values.httpUrl,
    'Service that screens wallets, besides the lists. While it does not answer, no new wallet is taken and no send-out is prepared.',
    { example: 'https://wallets.internal' },
  ),
  walletScreeningToken: optional(
    'WALLET_SCREENING_TOKEN',
    values.text,
    'Sent to WALLET_SCREENING_URL as a bearer token.',
    { secret: true },
  ),
  walletRescreenSeconds: withDefault(
    'WALLET_RESCREEN_SECONDS',
    seconds,
    '86400',
    'The wallets of partners and of active vendors are screened again after this long.',
    { roles: worker },
  ),
  sanctionsAlternatesFile: optional(
    'SANCTIONS_ALTERNATES_FILE',
    values.path,
    'Aliases (alt.csv) that belong to an OFAC sdn.csv.',
    { example: '/var/lib/causeway/alt.csv', roles: worker },
  ),

  rateSources: withDefault(
    'RATE_SOURCES',
    values.rateSources,
    { sandbox: 'simulated', production: 'ecb,kraken' },
    'Where rates come from; a JSON feed answers `{ "rates": { "NGN": 1540.2 } }`, what one dollar costs.',
    {
      example: 'ecb,kraken,https://rates.example.com/usd.json',
      roles: worker,
      refuse: inProduction((sources) =>
        sources.includes('simulated')
          ? 'must not be simulated in production: those are not market rates'
          : undefined,
      ),
    },
  ),

  dnsServers: optional(
    'DNS_SERVERS',
    values.dnsServers,
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
    { roles: worker },
  ),
  requestLogRetentionDays: withDefault(
    'REQUEST_LOG_RETENTION_DAYS',
    values.wholeNumber(0, 365),
    '7',
    'How long partners and vendors can read the log of their API requests. 0: none are logged.',
  ),
  workerConcurrency: withDefault(
    'WORKER_CONCURRENCY',
    values.wholeNumber(1, 1024),
    '32',
    'Intents that one worker carries out at the same time.',
    { roles: worker },
  ),

  metricsPort: withDefault(
    'METRICS_PORT',
    values.portOrOff,
    '9464',
    'Port of `/metrics`, and of `/health` and `/ready` of the whole process. Processes that share a machine need one each.',
  ),
  metricsHost: withDefault(
    'METRICS_HOST',
    values.text,
    '127.0.0.1',
    'Address METRICS_PORT listens on. Never make it public; a container whose probes come from outside needs `0.0.0.0`.',
    { example: '0.0.0.0' },
  ),
  logLevel: withDefault(
    'LOG_LEVEL',
    values.oneOf(...LOG_LEVELS),
    { sandbox: 'warn', production: 'info' },
    'Least important log lines that are written.',
  ),
  logFormat: withDefault(
    'LOG_FORMAT',
    values.oneOf(...LOG_FORMATS),
    { sandbox: 'pretty', production: 'json' },
    'JSON lines for machines or short lines for people.',
  ),
  accessLog: withDefault(
    'ACCESS_LOG',
    values.onOrOff,
    'on',
    'Whether every request leaves a line in the log, whatever LOG_LEVEL says: method, route, status, time taken, `X-Request-Id` and the id of the key; nothing personal.',
    { roles: api },
  ),
  otlpEndpoint: optional(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    values.httpUrl,
    'OpenTelemetry collector (OTLP over HTTP) that receives traces. Without it none are made.',
    { example: 'http://otel-collector:4318' },
  ),
};

/** What the commands that put contracts on a chain read. They run before there is anything else to configure. */
export const DEPLOY_VARIABLES = {
  deployerKey: optional(
    'DEPLOYER_KEY',
    values.privateKey,
    'Private key that pays for the deployment. The contracts have no owner: it is of no use afterwards.',
    { example: '0x…', secret: true },
  ),
  deployerKeystore: optional(
    'DEPLOYER_KEYSTORE',
    values.path,
    'Encrypted keystore file (Web3 secret storage) with that key, in place of DEPLOYER_KEY.',
    { example: '/run/secrets/deployer.json' },
  ),
  deployerKeystorePassword: optional('DEPLOYER_KEYSTORE_PASSWORD', values.text, 'Opens DEPLOYER_KEYSTORE.', {
    secret: true,
  }),
  deployRpcUrl: optional(
    'DEPLOY_RPC_URL',
    values.httpUrl,
    'Node to use, in place of `--rpc`: an address that carries a provider’s key does not belong on a command line.',
    { example: 'https://node.example.com/your-key', secret: true },
  ),
  chainsFile: optional(
    'CHAINS_FILE',
    values.path,
    'The file to write or to check, in place of `--chains-file`.',
    {
      example: '/etc/causeway/chains.json',
    },
  ),
};
