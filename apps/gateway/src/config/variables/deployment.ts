import { LOG_FORMATS, LOG_LEVELS } from '../../lib/logger.ts';
import * as addresses from '../address-values.ts';
import * as keys from '../key-values.ts';
import * as values from '../values.ts';
import { api, ENVIRONMENTS, inProduction, optional, withDefault, worker } from '../variable.ts';

/** Where a process listens and how much it does at a time. */
export const deployment = {
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
    addresses.baseUrl,
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
    addresses.addressRanges,
    'Proxies whose `X-Forwarded-For` is believed. Without it the address of the connection counts.',
    { example: '10.0.0.0/8,192.168.1.7', roles: api },
  ),
  bodyLimitBytes: withDefault(
    'BODY_LIMIT_BYTES',
    values.wholeNumber(1024, 104_857_600),
    '1048576',
    'Largest request body. A request with a document or a payment proof may have 10 MiB whatever this says.',
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
    'Processes that serve the API, on one port; `auto` for as many as the machine has cores, one less with API_SCHEDULING=realtime, and no more than half of DATABASE_POOL_SIZE. They share DATABASE_POOL_SIZE, and have at least 2 of it each. The worker then has a process of its own, with a DATABASE_POOL_SIZE of its own.',
    { example: 'auto', roles: api },
  ),
  apiScheduling: withDefault(
    'API_SCHEDULING',
    values.oneOf('normal', 'realtime'),
    'normal',
    'With `realtime` a process of the API gets a core as soon as it has something to do, ahead of what else the machine does, such as the database: for machines that do all of it. Linux only; the account needs the right to it, and one core must be left without a process of the API.',
    { roles: api },
  ),
  workerConcurrency: withDefault(
    'WORKER_CONCURRENCY',
    values.wholeNumber(1, 1024),
    '32',
    'Intents that one worker carries out at the same time.',
    { roles: worker },
  ),
  shutdownGraceSeconds: withDefault(
    'SHUTDOWN_GRACE_SECONDS',
    values.wholeNumber(0, 600),
    '15',
    'How long a stopping process waits for the work it has begun.',
  ),
};

export const database = {
  databaseUrl: optional(
    'DATABASE_URL',
    addresses.postgresUrl,
    'PostgreSQL to use. A sandbox starts its own when it is not set.',
    { example: 'postgres://causeway:…@db:5432/causeway', secret: true, requiredInProduction: true },
  ),
  databaseDirectUrl: optional(
    'DATABASE_DIRECT_URL',
    addresses.postgresUrl,
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
    'Most database connections that a process opens for each of its three roles (partner, vendor, system); one more listens for notifications. PostgreSQL’s `max_connections` has to allow for all processes together.',
  ),
};

export const secrets = {
  dataEncryptionKey: optional(
    'DATA_ENCRYPTION_KEY',
    keys.encryptionKey,
    'Key that encrypts personal data and secrets at rest. A sandbox makes its own.',
    {
      example: '$(openssl rand -base64 32)',
      secret: true,
      requiredInProduction: true,
      refuse: inProduction((key) =>
        keys.looksTyped(key, 8) ? 'is guessable; make one with: openssl rand -base64 32' : undefined,
      ),
    },
  ),
  dataEncryptionKeysPrevious: optional(
    'DATA_ENCRYPTION_KEYS_PREVIOUS',
    keys.encryptionKeys,
    'Keys that DATA_ENCRYPTION_KEY has replaced; they decrypt and never encrypt. `npm run keys:rotate` makes them superfluous.',
    { secret: true },
  ),
  operatorKey: optional(
    'OPERATOR_KEY',
    keys.operatorKey,
    'First operator key, installed when the database has none. A sandbox makes its own.',
    {
      example: 'cw_operator_…',
      secret: true,
      requiredInProduction: true,
      roles: api,
      refuse: inProduction((key) =>
        keys.looksTyped(key.slice('cw_operator_'.length), 8)
          ? 'is a sandbox or guessable value; make one with: echo "cw_operator_$(openssl rand -hex 24)"'
          : undefined,
      ),
    },
  ),
};

export const observability = {
  metricsPort: withDefault(
    'METRICS_PORT',
    values.portOrOff,
    '9464',
    'Port of `/metrics`, and of `/health` and `/ready` of the whole process. Processes that share a machine need one each; those of API_PROCESSES have the ports after it.',
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
    addresses.httpUrl,
    'OpenTelemetry collector (OTLP over HTTP) that receives traces. Without it none are made.',
    { example: 'http://otel-collector:4318' },
  ),
};
