import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import fc from 'fast-check';
import { mnemonicToAccount } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import { renderConfig } from '../../../scripts/docs/config.ts';
import type { Variable } from './config/variable.ts';
import { VARIABLES } from './config/variables.ts';
import {
  ConfigError,
  type EnvironmentVariables,
  loadConfig,
  publicBaseUrlOf,
  usage,
  wantsHelp,
} from './config.ts';
import { randomToken } from './lib/crypto.ts';
import { redact } from './lib/redaction.ts';

const ADDRESS = '0xABaBaBaBABabABabAbAbABAbABabababaBaBABaB';
/** The same with one letter in another case. */
const MISTYPED = ADDRESS.replace('0xAB', '0xaB');
const CHAIN = {
  slug: 'base-mainnet',
  chain_id: 8453,
  rpc_urls: ['https://node.example.com/provider-key', 'https://second.example.com'],
  public_rpc_url: 'https://mainnet.base.org',
  confirmations: 12,
  contracts: {
    safe_singleton: ADDRESS,
    safe_proxy_factory: ADDRESS,
    multi_send_call_only: ADDRESS,
    fallback_handler: ADDRESS,
    forwarder: ADDRESS,
    router: ADDRESS,
  },
  tokens: [{ code: 'USDC', address: ADDRESS, decimals: 6 }],
  treasury: ADDRESS,
};
const PRODUCTION: EnvironmentVariables = {
  CAUSEWAY_ENV: 'production',
  PUBLIC_BASE_URL: 'https://pay.example.com',
  DATABASE_URL: 'postgres://causeway:pw@db:5432/causeway',
  CHAINS_FILE: '/etc/causeway/chains.json',
  SERVICE_SIGNER_KEY: `0x${randomBytes(32).toString('hex')}`,
  DATA_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  OPERATOR_KEY: randomToken('cw_operator_'),
};
const readChains = () => JSON.stringify([CHAIN]);

function problemsOf(
  env: EnvironmentVariables,
  argv: readonly string[] = [],
  readText: (path: string) => string = readChains,
): readonly string[] {
  try {
    loadConfig(env, argv, readText);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('a sandbox', () => {
  it('needs nothing to be set', () => {
    expect(loadConfig({}, [])).toMatchObject({
      environment: 'sandbox',
      roles: ['api', 'worker'],
      host: '127.0.0.1',
      port: 8080,
      causewayHome: '.causeway',
      databaseUrl: undefined,
      databasePoolSize: 10,
      metricsPort: 9464,
      logLevel: 'warn',
      logFormat: 'pretty',
      rateLimitPartnerPerMinute: 600_000,
      rateLimitPublicPerMinute: 600_000,
      bodyLimitBytes: 1_048_576,
      webhookAllowLoopback: true,
      webhookPorts: 'any',
      platformFeePct: '0.5',
      depositTolerancePct: '0.1',
      secondApprovalAboveUsd: '10000',
      orderTimeoutNoVendorSeconds: 900,
      orderTimeoutNoEscrowSeconds: 1800,
      orderTimeoutNoFiatSeconds: 3600,
      orderTimeoutNoAuthorizationSeconds: 1800,
      quoteTtlSeconds: 60,
      shutdownGraceSeconds: 15,
      workerConcurrency: 32,
      chains: [],
    });
  });

  it('is reached at the port it got unless an address is set', () => {
    expect(publicBaseUrlOf(loadConfig({ PORT: '0' }, []), 43_210)).toBe('http://localhost:43210');
    const config = loadConfig({ PUBLIC_BASE_URL: 'http://sandbox.example.com/' }, []);
    expect(publicBaseUrlOf(config, 43_210)).toBe('http://sandbox.example.com');
  });

  it('takes its chains from CHAIN_RPC_URLS and refuses the file of production', () => {
    const env = { CHAIN_RPC_URLS: 'base-mainnet=http://127.0.0.1:8545/?a=b, arbitrum-one=https://x' };
    expect(loadConfig(env, []).chainRpcUrls).toEqual([
      { slug: 'base-mainnet', rpcUrl: 'http://127.0.0.1:8545/?a=b' },
      { slug: 'arbitrum-one', rpcUrl: 'https://x' },
    ]);
    expect(problemsOf({ CHAINS_FILE: '/x' })).toEqual([expect.stringContaining('CHAIN_RPC_URLS')]);
  });
});

describe('every value', () => {
  it('is frozen at every depth', () => {
    const config = loadConfig(PRODUCTION, [], readChains);
    const check = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return;
      expect(Object.isFrozen(value)).toBe(true);
      Object.values(value).forEach(check);
    };
    check(config);
    expect(config.chains[0]?.tokens[0]).toBeDefined();
  });

  it('is trimmed, and an empty one counts as not set', () => {
    expect(loadConfig({ PORT: ' 9000 ', HOST: '', DATABASE_URL: '  ' }, [])).toMatchObject({
      port: 9000,
      host: '127.0.0.1',
      databaseUrl: undefined,
    });
  });

  it.each([
    ['PORT', ['-1', '65536', '80.5', '0x50', 'http', '1e3']],
    ['SECOND_APPROVAL_ABOVE_USD', ['-1', '1e3', '1.1234567', '007', 'none']],
    ['CAUSEWAY_ENV', ['prod', 'Production', 'test']],
    ['PUBLIC_BASE_URL', ['pay.example.com', 'ftp://x', 'https://x/path', 'https://u:p@x', 'https://x?q=1']],
    ['DATABASE_URL', ['mysql://x/y', 'localhost:5432', 'postgres://']],
    ['DATABASE_POOL_SIZE', ['0', 'ten', '1000']],
    [
      'CHAIN_RPC_URLS',
      ['http://127.0.0.1:8545', 'Base=http://x', 'a=ws://x', 'a=', 'a=http://x,a=http://y', ','],
    ],
    ['SERVICE_SIGNER_KEY', ['0x12', 'ab'.repeat(32), `0x${'00'.repeat(32)}`, `0x${'ff'.repeat(32)}`]],
    ['DATA_ENCRYPTION_KEY', ['short', 'ab'.repeat(31), randomBytes(31).toString('base64')]],
    ['METRICS_PORT', ['on', '70000']],
    ['RATE_SOURCES', [',', 'ecb,oracle', 'ftp://x', 'https:///x']],
    ['YENTE_URL', ['yente', 'ftp://yente']],
    ['YENTE_THRESHOLD', ['0', '1.01', '70', '-0.7', '.7', '7e-1']],
    ['YENTE_TIMEOUT_SECONDS', ['0', '61', '1.5']],
    ['LOG_LEVEL', ['verbose']],
    ['LOG_FORMAT', ['xml']],
    ['WEBHOOK_ALLOW_LOOPBACK', ['yes', 'TRUE']],
    ['DEPOSIT_TOLERANCE_PCT', ['100', '-1', '1e1']],
    ['PLATFORM_FEE_PCT', ['100', '-1', '0.1234567', '.5', '1e1', '5,5', '0.']],
    ['QUOTE_TTL_SECONDS', ['0', '1.5']],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', ['collector:4318']],
    ['OPERATOR_KEY', ['cw_operator_short', 'cw_test_abcdefghijklmnopqrstuvwxyz012345', 'secret']],
    ['TRUSTED_PROXIES', ['10.0.0.0/33', 'example.com', '10']],
    ['CURRENCIES_URL', ['//x']],
  ])('of %s that does not fit is refused by name', (name, wrongValues) => {
    for (const wrong of wrongValues)
      expect(problemsOf({ [name]: wrong })).toEqual([expect.stringMatching(`^${name} `)]);
  });

  it('starts no more processes by itself than the connections go round for', () => {
    const started = (env: EnvironmentVariables) => loadConfig(env, []).apiProcesses;
    const cores = Math.min(availableParallelism(), 64);
    expect(started({ API_PROCESSES: 'auto', DATABASE_POOL_SIZE: '500' })).toBe(cores);
    expect(started({ API_PROCESSES: 'auto', DATABASE_POOL_SIZE: '3' })).toBe(1);
    expect(started({ API_PROCESSES: 'auto', DATABASE_POOL_SIZE: '1' })).toBe(1);
    expect(started({ API_PROCESSES: '7', DATABASE_POOL_SIZE: '3' })).toBe(7);
  });

  it('leaves a core without a process of the API where these go before everything else', () => {
    const [cores, realtime] = [availableParallelism(), { API_SCHEDULING: 'realtime' }];
    const tooMany = { ...realtime, API_PROCESSES: String(cores) };
    expect(problemsOf(tooMany)).toEqual([
      `API_SCHEDULING=realtime needs a core without a process of the API, of ${cores}; API_PROCESSES asks for ${cores}.`,
    ]);
    expect(loadConfig({ ...tooMany, API_SCHEDULING: 'normal' }, []).apiProcesses).toBe(cores);
    expect(loadConfig(tooMany, ['worker']).roles).toEqual(['worker']);
    if (cores === 1) return;
    const most = String(cores - 1);
    expect(loadConfig({ ...realtime, API_PROCESSES: most }, []).apiProcesses).toBe(cores - 1);
    const asked = { ...realtime, API_PROCESSES: 'auto', DATABASE_POOL_SIZE: '500' };
    expect(loadConfig(asked, []).apiProcesses).toBe(Math.min(cores - 1, 64));
  });

  it('keeps percentages and keys exact', () => {
    const key = randomBytes(32);
    expect(loadConfig({ PLATFORM_FEE_PCT: '99.999999' }, []).platformFeePct).toBe('99.999999');
    for (const text of [
      key.toString('hex'),
      `0x${key.toString('hex')}`,
      key.toString('base64'),
      key.toString('base64url'),
    ]) {
      expect(loadConfig({ DATA_ENCRYPTION_KEY: text }, []).dataEncryptionKey).toBe(key.toString('hex'));
    }
    expect(loadConfig({ SERVICE_SIGNER_KEY: `0x${'AB'.repeat(32)}` }, []).serviceSignerKey).toBe(
      `0x${'ab'.repeat(32)}`,
    );
  });

  it('switches metrics off with off or with nothing', () => {
    for (const off of ['off', '']) expect(loadConfig({ METRICS_PORT: off }, []).metricsPort).toBeNull();
    expect(loadConfig({ METRICS_PORT: '0' }, []).metricsPort).toBe(0);
    const above = (text: string) =>
      loadConfig({ SECOND_APPROVAL_ABOVE_USD: text }, []).secondApprovalAboveUsd;
    expect([above('off'), above('0'), above('2500.50')]).toEqual([null, '0', '2500.50']);
  });

  it('lists proxies as addresses and ranges', () => {
    expect(loadConfig({ TRUSTED_PROXIES: '10.0.0.0/8, ::1,192.168.1.7' }, []).trustedProxies).toEqual([
      '10.0.0.0/8',
      '::1',
      '192.168.1.7',
    ]);
  });
});

describe('problems', () => {
  it('are reported all together, each with its variable', () => {
    const problems = problemsOf({ PORT: 'x', LOG_LEVEL: 'loud', QUOTE_TTL_SECONDS: '-1' }, ['serve']);
    expect(problems).toHaveLength(4);
    for (const name of ['PORT', 'LOG_LEVEL', 'QUOTE_TTL_SECONDS', '"serve"']) {
      expect(problems.filter((problem) => problem.startsWith(name))).toHaveLength(1);
    }
    expect(new ConfigError(problems).message).toContain('has 4 problems:\n  - "serve" is not an argument');
  });

  it('never show the value of a secret, whatever is wrong with it', () => {
    const secrets = Object.values<Variable<unknown>>(VARIABLES).filter(({ secret }) => secret);
    expect(secrets.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['DATABASE_URL', 'SERVICE_SIGNER_KEY', 'DATA_ENCRYPTION_KEY', 'OPERATOR_KEY']),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...secrets.map(({ name }) => name)),
        fc.constantFrom('', 'cw_operator_', '0x', 'postgres://u:', 'a=http://'),
        fc.stringMatching(/^Q[0-9a-f]{12,40}Q$/),
        fc.constantFrom('sandbox', 'production'),
        (name, start, secret, environment) => {
          const problems = problemsOf({ ...PRODUCTION, CAUSEWAY_ENV: environment, [name]: start + secret });
          expect(problems.join('\n')).not.toContain(secret);
        },
      ),
    );
  });

  it('show what was given where it is no secret', () => {
    expect(problemsOf({ LOG_LEVEL: 'loud' })).toEqual([
      'LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent, not "loud".',
    ]);
  });
});

describe('production', () => {
  it('starts with its required variables, on all addresses and without loopback webhooks', () => {
    expect(loadConfig(PRODUCTION, [], readChains)).toMatchObject({
      environment: 'production',
      host: '0.0.0.0',
      metricsHost: '127.0.0.1',
      webhookAllowLoopback: false,
      webhookPorts: [443, 8443],
      publicBaseUrl: 'https://pay.example.com',
    });
  });

  it('names every variable that is missing, with what to do', () => {
    const required = Object.keys(PRODUCTION).filter((name) => name !== 'CAUSEWAY_ENV');
    const problems = problemsOf({ CAUSEWAY_ENV: 'production' });
    expect(problems.map((problem) => problem.split(' ')[0]).sort()).toEqual(required.sort());
    for (const problem of problems) expect(problem).toMatch(/is required in production\. .+ Example: /);
  });

  it.each([
    ['SERVICE_SIGNER_KEYSTORE', '/run/secrets/key.json'],
    ['SERVICE_SIGNER_URL', 'https://keys.internal'],
  ])('takes %s in place of the service’s key', (name, value) => {
    const { SERVICE_SIGNER_KEY: _, ...withoutKey } = PRODUCTION;
    expect(problemsOf(withoutKey)).toEqual([expect.stringMatching(/^SERVICE_SIGNER_KEY is required/)]);
    const env = { ...withoutKey, SERVICE_SIGNER_KEY_ID: 'causeway-service', [name]: value };
    expect(problemsOf(env)).toEqual([]);
  });

  it.each([
    ['MAIL_URL', 'smtps://mail.example.com', ['MAIL_FROM']],
    ['SERVICE_SIGNER_URL', 'https://keys.internal', ['SERVICE_SIGNER_KEY_ID']],
    [
      'DOCUMENTS_S3_ENDPOINT',
      'https://s3.example.com',
      ['DOCUMENTS_S3_BUCKET', 'DOCUMENTS_S3_ACCESS_KEY_ID', 'DOCUMENTS_S3_SECRET_ACCESS_KEY'],
    ],
    ['SUMSUB_APP_TOKEN', 'token', ['SUMSUB_SECRET_KEY', 'SUMSUB_WEBHOOK_SECRET']],
  ])(
    'with %s names all that it needs besides, in the same list as what is wrong otherwise',
    (name, value, needed) => {
      const listed = problemsOf({ ...PRODUCTION, [name]: value, PORT: 'x' });
      expect(listed).toHaveLength(needed.length + 1);
      for (const one of needed) expect(listed).toContain(`${one} is needed with ${name}.`);
      expect(problemsOf({ ...PRODUCTION, [name]: value }, ['migrate'])).toEqual([]);
    },
  );

  it('says of what screens names, counts the queue, keeps rates and checks events that both roles read it', () => {
    const onlyOne = Object.values<Variable<unknown>>(VARIABLES).filter(({ roles }) => roles?.length === 1);
    const names = onlyOne.map(({ name }) => name);
    for (const shared of ['YENTE_', 'SANCTIONS_', 'QUEUE_TARGETS', 'RATE_SOURCES', 'EVENT_RETENTION_DAYS']) {
      expect(names.filter((name) => name.startsWith(shared))).toEqual([]);
    }
  });

  it('asks a worker only for what a worker reads', () => {
    const { OPERATOR_KEY: _, ...rest } = PRODUCTION;
    expect(problemsOf(rest, ['worker'])).toEqual([]);
    expect(problemsOf(rest, ['api'])).toEqual([expect.stringContaining('OPERATOR_KEY')]);
  });

  it.each([
    ['PUBLIC_BASE_URL', 'http://pay.example.com', 'https'],
    ['WEBHOOK_ALLOW_LOOPBACK', 'true', 'must not be true'],
    ['CHAIN_RPC_URLS', 'base-mainnet=http://127.0.0.1:8545', 'CHAINS_FILE'],
    ['SERVICE_SIGNER_KEY', `0x${'00'.repeat(31)}01`, 'guessable'],
    ['DATA_ENCRYPTION_KEY', '00'.repeat(32), 'guessable'],
    ['OPERATOR_KEY', `cw_operator_${'a'.repeat(40)}`, 'guessable'],
    ['OPERATOR_KEY', 'cw_operator_Sandbox0123456789abcdefghijklmnop', 'sandbox'],
  ])('refuses a sandbox value of %s', (name, value, reason) => {
    const problems = problemsOf({ ...PRODUCTION, [name]: value });
    expect(problems).toEqual([expect.stringMatching(`^${name} .*${reason}`)]);
  });

  it('refuses every private key that development chains hand out, which a sandbox may use', () => {
    for (let addressIndex = 0; addressIndex < 20; addressIndex += 1) {
      const account = mnemonicToAccount('test test test test test test test test test test test junk', {
        addressIndex,
      });
      const key = `0x${Buffer.from(account.getHdKey().privateKey ?? []).toString('hex')}`;
      for (const spelling of [key, `0x${key.slice(2).toUpperCase()}`]) {
        expect(problemsOf({ ...PRODUCTION, SERVICE_SIGNER_KEY: spelling })).toEqual([
          expect.stringMatching(/^SERVICE_SIGNER_KEY is a publicly known/),
        ]);
        expect(problemsOf({ SERVICE_SIGNER_KEY: spelling })).toEqual([]);
      }
    }
  });

  it('accepts keys that were really drawn at random', () => {
    for (let round = 0; round < 500; round += 1) {
      const env = {
        ...PRODUCTION,
        SERVICE_SIGNER_KEY: `0x${randomBytes(32).toString('hex')}`,
        DATA_ENCRYPTION_KEY: randomBytes(32).toString('hex'),
        OPERATOR_KEY:
          round % 2 ? randomToken('cw_operator_') : `cw_operator_${randomBytes(24).toString('hex')}`,
      };
      expect(problemsOf(env)).toEqual([]);
    }
  });
});

describe('chains file', () => {
  it('becomes typed settings, the first node preferred', () => {
    const [chain] = loadConfig(PRODUCTION, [], readChains).chains;
    expect(chain).toMatchObject({
      slug: 'base-mainnet',
      chainId: 8453,
      rpcUrl: CHAIN.rpc_urls[0],
      rpcUrls: CHAIN.rpc_urls,
      publicRpcUrl: 'https://mainnet.base.org',
      contracts: { safeProxyFactory: ADDRESS, multiSendCallOnly: ADDRESS },
      tokens: [{ code: 'USDC', address: ADDRESS, decimals: 6 }],
      treasury: ADDRESS,
    });
  });

  it.each([
    [undefined, [300_000_000_000n, 0n, 50_000_000_000n]],
    [{ max_fee_gwei: '2.5' }, [2_500_000_000n, 0n, 2_500_000_000n]],
    [{ max_fee_gwei: '900', min_tip_gwei: '30' }, [900_000_000_000n, 30_000_000_000n, 50_000_000_000n]],
    [{ min_tip_gwei: '60' }, [300_000_000_000n, 60_000_000_000n, 60_000_000_000n]],
    [
      { max_fee_gwei: '1', min_tip_gwei: '0.000000001', max_tip_gwei: '0.01' },
      [1_000_000_000n, 1n, 10_000_000n],
    ],
  ])('bounds what each chain’s transactions offer for gas: %j', (gas, [maxFee, minTip, maxTip]) => {
    const [chain] = loadConfig(PRODUCTION, [], () => JSON.stringify([{ ...CHAIN, gas }])).chains;
    expect(chain?.fees).toEqual({
      maxFeePerGas: maxFee,
      minPriorityFeePerGas: minTip,
      maxPriorityFeePerGas: maxTip,
    });
  });

  it.each<[string, unknown, RegExp]>([
    ['an entry without a field', [{ ...CHAIN, treasury: undefined }], /treasury/],
    [
      'a wrong address',
      [{ ...CHAIN, contracts: { ...CHAIN.contracts, router: '0x12' } }],
      /\/0\/contracts\/router/,
    ],
    ['no node', [{ ...CHAIN, rpc_urls: [] }], /\/0\/rpc_urls/],
    [
      'an unknown token',
      [{ ...CHAIN, tokens: [{ code: 'DAI', address: ADDRESS, decimals: 18 }] }],
      /\/0\/tokens\/0\/code/,
    ],
    ['no confirmations', [{ ...CHAIN, confirmations: 0 }], /\/0\/confirmations/],
    ['a chain named twice', [CHAIN, { ...CHAIN, chain_id: 1 }], /slug twice/],
    ['a chain id used twice', [CHAIN, { ...CHAIN, slug: 'other' }], /chain_id twice/],
    [
      'a token named twice',
      [{ ...CHAIN, tokens: [CHAIN.tokens[0], CHAIN.tokens[0]] }],
      /token of base-mainnet twice/,
    ],
    [
      'a gas price that is no decimal text',
      [{ ...CHAIN, gas: { max_fee_gwei: 5 } }],
      /\/0\/gas\/max_fee_gwei/,
    ],
    ['a misspelt gas limit', [{ ...CHAIN, gas: { max_gwei: '5' } }], /\/0\/gas/],
    ['nothing to offer for gas', [{ ...CHAIN, gas: { max_fee_gwei: '0' } }], /anything for gas/],
    [
      'a tip above the whole',
      [{ ...CHAIN, gas: { max_fee_gwei: '5', min_tip_gwei: '6' } }],
      /tip of base-mainnet above its max_fee_gwei/,
    ],
    [
      'a lowest tip above the highest',
      [{ ...CHAIN, gas: { min_tip_gwei: '2', max_tip_gwei: '1' } }],
      /min_tip_gwei of base-mainnet above/,
    ],
    ['no chain', [], /the file/],
    ['no list', CHAIN, /the file/],
  ])('with %s is refused where it is wrong, without showing node addresses', (_, content, place) => {
    const problems = problemsOf(PRODUCTION, [], () => JSON.stringify(content));
    expect(problems.join('\n')).toMatch(place);
    for (const problem of problems) expect(problem).toMatch(/^CHAINS_FILE /);
    expect(problems.join('\n')).not.toContain('provider-key');
  });

  it('with a wrong checksum in any address is refused, by field and chain', () => {
    const wrong = {
      ...CHAIN,
      contracts: Object.fromEntries(Object.keys(CHAIN.contracts).map((name) => [name, MISTYPED])),
      tokens: [{ code: 'USDC', address: MISTYPED, decimals: 6 }],
      treasury: MISTYPED,
    };
    const other = { ...CHAIN, slug: 'arbitrum-one', chain_id: 42161 };
    const problems = problemsOf(PRODUCTION, [], () => JSON.stringify([other, wrong]));
    const fields = [
      ...Object.keys(CHAIN.contracts).map((name) => `contracts.${name}`),
      ...['token USDC', 'treasury'],
    ];
    expect(problems).toEqual(
      fields.map((field) => expect.stringContaining(`has a ${field} of base-mainnet with a wrong checksum`)),
    );
  });

  it('with the zero address is refused: what is paid to it is lost', () => {
    const treasury = `0x${'0'.repeat(40)}`;
    const problems = problemsOf(PRODUCTION, [], () => JSON.stringify([{ ...CHAIN, treasury }]));
    expect(problems).toEqual([expect.stringContaining('has the zero address as treasury of base-mainnet')]);
  });

  it.each([
    ['lower', ADDRESS.toLowerCase(), ADDRESS.toLowerCase()],
    ['upper', `0x${ADDRESS.slice(2).toUpperCase()}`, ADDRESS],
  ])('takes an address in %s case, which has no checksum', (_case, treasury, used) => {
    const [chain] = loadConfig(PRODUCTION, [], () => JSON.stringify([{ ...CHAIN, treasury }])).chains;
    expect(chain?.treasury).toBe(used);
  });

  it('that is missing or no JSON is a problem like any other', () => {
    expect(
      problemsOf({ ...PRODUCTION, CHAINS_FILE: '/does/not/exist' }, [], (path) => readFileSync(path, 'utf8')),
    ).toEqual(['CHAINS_FILE names "/does/not/exist", which cannot be read (ENOENT).']);
    expect(problemsOf(PRODUCTION, [], () => '{ provider-key')).toEqual([
      'CHAINS_FILE (/etc/causeway/chains.json): is not valid JSON.',
    ]);
  });
});

describe('command line', () => {
  it('migrate is a command of its own that needs the database alone', () => {
    const { DATABASE_URL = '' } = PRODUCTION;
    const config = loadConfig(
      { CAUSEWAY_ENV: 'production', DATABASE_URL, CHAINS_FILE: '/absent' },
      ['migrate'],
      () => {
        throw new Error('reads no file');
      },
    );
    expect(config).toMatchObject({ command: 'migrate', roles: [], databaseUrl: DATABASE_URL });
    expect(loadConfig({}, ['api']).command).toBe('serve');
    expect(problemsOf({}, ['migrate'])).toEqual([expect.stringContaining('needs DATABASE_URL')]);
    expect(problemsOf({ DATABASE_URL }, ['migrate', 'api'])).toEqual([
      expect.stringContaining('start api afterwards'),
    ]);
    expect(usage()).toContain('npm start [-- api | worker | migrate]');
    expect(usage()).toContain('MIGRATE_AT_START');
  });

  it('only production can be told not to migrate at start', () => {
    expect(loadConfig(PRODUCTION, [], readChains).migrateAtStart).toBe(true);
    expect(loadConfig({ ...PRODUCTION, MIGRATE_AT_START: 'false' }, [], readChains).migrateAtStart).toBe(
      false,
    );
    expect(problemsOf({ MIGRATE_AT_START: 'false' })).toEqual([expect.stringContaining('is for production')]);
  });

  it('names the roles, none means both', () => {
    expect(loadConfig({}, ['api']).roles).toEqual(['api']);
    expect(loadConfig({}, ['worker']).roles).toEqual(['worker']);
    expect(loadConfig({}, ['worker', 'api']).roles).toEqual(['api', 'worker']);
    expect(loadConfig({}, []).roles).toEqual(['api', 'worker']);
  });

  it('says what exists when an argument is unknown', () => {
    expect(problemsOf({}, ['--port=1'])).toEqual([
      '"--port=1" is not an argument. There are: api, worker (none means both), migrate and --help.',
    ]);
  });

  it('--help lists every variable', () => {
    expect([wantsHelp(['--help']), wantsHelp(['api', '-h']), wantsHelp(['api'])]).toEqual([
      true,
      true,
      false,
    ]);
    for (const { name } of Object.values(VARIABLES)) expect(usage()).toContain(` ${name} `);
  });
});

describe('hot wallets', () => {
  const wallets = { ...PRODUCTION, HOT_WALLETS_FILE: '/etc/causeway/hot-wallets.json' };
  const reading = (content: unknown) => (path: string) =>
    path.endsWith('hot-wallets.json') ? JSON.stringify(content) : readChains();
  const keystore = { keystore: '/keys/1.json', password_file: '/keys/1.password' };
  const remote = { url: 'https://keys.internal', key_id: 'hot-2', access_token_file: '/keys/token' };

  it('are none unless named: the service’s own key pays', () => {
    expect(loadConfig(PRODUCTION, [], readChains).hotWallets).toEqual([]);
    expect(problemsOf({ HOT_WALLETS_FILE: '/x' })).toEqual([expect.stringContaining('is for production')]);
  });

  it('have their keys in keystores or behind key services, on all chains or on some', () => {
    const entries = [keystore, { ...remote, chains: [CHAIN.slug] }];
    expect(loadConfig(wallets, [], reading(entries)).hotWallets).toEqual([
      { key: { keystore: '/keys/1.json', passwordFile: '/keys/1.password' } },
      {
        key: { url: 'https://keys.internal', keyId: 'hot-2', accessTokenFile: '/keys/token' },
        chains: [CHAIN.slug],
      },
    ]);
  });

  it.each([
    ['an empty list', [], 'must be a list'],
    ['a key in the clear', [{ private_key: '0x1' }], 'must be a list'],
    ['a keystore without its password', [{ keystore: '/keys/1.json' }], 'must be a list'],
    ['a chain that is not there', [keystore, { ...remote, chains: ['moon'] }], 'names chain moon'],
    ['the same key twice', [keystore, keystore], 'names a key twice'],
    ['no wallet for a chain', [{ ...remote, chains: ['moon'] }], `has no wallet for ${CHAIN.slug}`],
  ])('with %s are refused', (_what, entries, problem) => {
    expect(problemsOf(wallets, [], reading(entries)).join()).toContain(problem);
  });
});

describe('reference', () => {
  // Proves D13.11.
  it('in docs is the one generated from the table', () => {
    const committed = readFileSync(new URL('../../../docs/reference/config.md', import.meta.url), 'utf8');
    expect(committed).toBe(renderConfig());
    for (const { name } of Object.values(VARIABLES)) expect(committed).toContain(`| \`${name}\` |`);
  });
});

describe('a logged configuration', () => {
  it('shows no secret', () => {
    const logged = JSON.stringify(redact(loadConfig(PRODUCTION, [], readChains)));
    const hidden = [
      PRODUCTION.SERVICE_SIGNER_KEY,
      PRODUCTION.OPERATOR_KEY,
      PRODUCTION.DATABASE_URL,
      'provider-key',
    ];
    const dataKey = Buffer.from(PRODUCTION.DATA_ENCRYPTION_KEY ?? '', 'base64').toString('hex');
    for (const secret of [...hidden, dataKey]) expect(logged).not.toContain(secret);
  });
});
