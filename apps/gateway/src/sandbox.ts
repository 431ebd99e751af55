import type { ChainSettings } from './chain/chain-settings.ts';
import {
  approveRouter,
  deployLocalContracts,
  derivedKey,
  fundWallets,
} from './chain/contracts/local-deployment.ts';
import { localSigner } from './chain/signers/keystore-signer.ts';
import type { Config } from './config.ts';
import type { Surroundings } from './deps.ts';
import type { SandboxSeed } from './features/sandbox/seed.ts';
import { randomToken, TOKEN_PREFIX } from './lib/crypto.ts';
import type { IdGenerator } from './lib/ids.ts';
import { CONFIRMATIONS, type LocalServices } from './local/local-services.ts';
import type { SandboxDescription } from './local/sandbox-file.ts';
import { type SandboxSecrets, sandboxSecrets } from './local/sandbox-secrets.ts';
import { SANDBOX_VENDORS } from './upstream/offers/offers-market.ts';

/**
 * The ground a sandbox stands on: its own database and chains where none are configured, contracts on the chains, funded
 * wallets, and secrets of its own. Every step finds what an earlier start left and adds only what is missing.
 */
export interface SandboxGround {
  readonly home: string;
  readonly surroundings: Surroundings;
  readonly seed: SandboxSeed;
  describe(baseUrl: string): SandboxDescription;
}

const WALLET_ETHER_WEI = 10n ** 20n;
const WALLET_TOKENS = 10_000_000n;
/** More than a sandbox's users can ask for: a million of the largest payments. */
const FAUCET_ETHER_WEI = 10n ** 27n;
const FAUCET_TOKENS = 10n ** 12n;

const SANDBOX_VENDOR_NAMES = SANDBOX_VENDORS.map(({ name }) => name);

export async function layGround(
  config: Config,
  {
    home,
    databaseUrl,
    chains: localChains,
  }: Pick<LocalServices, 'home' | 'chains'> & { databaseUrl: string },
  ids: IdGenerator,
): Promise<SandboxGround> {
  const secrets = await makeSecrets(home, ids);
  const rpcs = config.chainRpcUrls ?? localChains;
  const chains = await Promise.all(rpcs.map(({ slug, rpcUrl }) => prepareChain(slug, rpcUrl, secrets)));
  return describeGround(config, { home, databaseUrl, secrets, chains });
}

export function makeSecrets(home: string, ids: IdGenerator): Promise<SandboxSecrets> {
  return sandboxSecrets(home, SANDBOX_VENDOR_NAMES, {
    uuid: () => ids.uuid(),
    token: (kind) => randomToken(TOKEN_OF[kind]),
  });
}

/** What follows from ground that is already laid, wherever it lies. */
export function describeGround(
  config: Config,
  laid: {
    readonly home: string;
    readonly databaseUrl: string;
    readonly secrets: SandboxSecrets;
    readonly chains: readonly ChainSettings[];
  },
): SandboxGround {
  const { home, databaseUrl, secrets, chains } = laid;
  const [settlement] = chains;
  if (settlement === undefined) throw new Error('a sandbox needs a chain');
  return {
    home,
    surroundings: {
      databaseUrl,
      databaseDirectUrl: config.databaseDirectUrl ?? databaseUrl,
      chains,
      serviceSigner: localSigner(config.serviceSignerKey ?? secrets.serviceSignerKey),
      dataEncryptionKey: config.dataEncryptionKey ?? secrets.dataEncryptionKey,
      solverKey: solverKeyOf(secrets),
      faucetKey: faucetKeyOf(secrets),
      ...docsKeys(secrets),
      sandboxUsers: secrets.console.map(({ email }) => email),
    },
    seed: seedOf(secrets, settlement.slug, config.platformFeePct),
    describe: (baseUrl) =>
      description(
        baseUrl,
        secrets,
        chains,
        localSigner(config.serviceSignerKey ?? secrets.serviceSignerKey).address,
      ),
  };
}

const TOKEN_OF = {
  partner: TOKEN_PREFIX.partnerTest,
  widget: TOKEN_PREFIX.widget,
  vendor: TOKEN_PREFIX.vendor,
  operator: TOKEN_PREFIX.operator,
  webhook: TOKEN_PREFIX.webhookSecret,
} as const;

/** What the docs page fills in: the keys of the first partner and vendor, and the operator's. */
function docsKeys({ partners: [partner], vendors: [vendor], operatorKey }: SandboxSecrets) {
  if (partner === undefined || vendor === undefined) return {};
  const { apiKey, widgetKey } = partner;
  return {
    sandboxKeys: { partner: apiKey, widget: widgetKey, vendor: vendor.apiKey, operator: operatorKey },
  };
}

/** The simulated bridge pays from this wallet, on every chain. */
function solverKeyOf({ deployerKey }: SandboxSecrets): `0x${string}` {
  return derivedKey(deployerKey, 'bridge solver');
}

/** The faucet pays from a wallet of its own, so that no other sender uses its nonces. */
function faucetKeyOf({ deployerKey }: SandboxSecrets): `0x${string}` {
  return derivedKey(deployerKey, 'faucet');
}

export async function prepareChain(
  slug: string,
  rpcUrl: string,
  secrets: SandboxSecrets,
): Promise<ChainSettings> {
  const { contracts, tokens, chainId } = await deployLocalContracts(rpcUrl, secrets.deployerKey);
  await fundWallets(rpcUrl, secrets.deployerKey, {
    wallets: [
      ...[...secrets.partners, ...secrets.vendors].map(({ walletKey }) => walletKey),
      solverKeyOf(secrets),
    ].map((walletKey) => localSigner(walletKey).address),
    tokens,
    etherWei: WALLET_ETHER_WEI / 10n,
    wholeTokens: WALLET_TOKENS,
  });
  const service = localSigner(secrets.serviceSignerKey).address;
  await fundWallets(rpcUrl, secrets.deployerKey, {
    wallets: [service],
    tokens: [],
    etherWei: WALLET_ETHER_WEI,
    wholeTokens: 0n,
  });
  // The deployer pays the faucet while the partners approve: each signs with a key of its own.
  const fundingFaucet = fundWallets(rpcUrl, secrets.deployerKey, {
    wallets: [localSigner(faucetKeyOf(secrets)).address],
    tokens,
    etherWei: FAUCET_ETHER_WEI,
    wholeTokens: FAUCET_TOKENS,
  });
  const approving = secrets.partners.map(({ walletKey }) =>
    approveRouter(rpcUrl, walletKey, contracts.router, tokens),
  );
  await Promise.all([fundingFaucet, ...approving]);
  return {
    slug,
    chainId,
    rpcUrl,
    publicRpcUrl: rpcUrl,
    confirmations: CONFIRMATIONS,
    contracts,
    tokens,
    treasury: localSigner(secrets.treasuryKey).address,
  };
}

function seedOf(secrets: SandboxSecrets, settlementChain: string, platformFeePct: string): SandboxSeed {
  return {
    operatorKey: secrets.operatorKey,
    console: secrets.console,
    settlementChain,
    platformFeePct,
    partners: secrets.partners.map(({ walletKey, ...partner }) => ({
      ...partner,
      walletAddress: localSigner(walletKey).address,
    })),
    vendors: secrets.vendors.map((vendor) => {
      const known = SANDBOX_VENDORS.find(({ name }) => name === vendor.name);
      return {
        ...vendor,
        walletAddress: localSigner(vendor.walletKey).address,
        kind: known?.kind ?? 'p2p',
        reputation: known?.reputation ?? { completedOrders: 0, failedOrders: 0, disputedOrders: 0 },
      };
    }),
  };
}

function description(
  baseUrl: string,
  secrets: SandboxSecrets,
  chains: readonly ChainSettings[],
  service: string,
): SandboxDescription {
  const solver = localSigner(solverKeyOf(secrets)).address;
  return {
    baseUrl,
    operatorKey: secrets.operatorKey,
    console: secrets.console,
    partners: secrets.partners.map((partner) => ({
      name: partner.name,
      apiKey: partner.apiKey,
      widgetKey: partner.widgetKey,
      webhookSecret: partner.webhookSecret,
      walletAddress: localSigner(partner.walletKey).address,
      walletPrivateKey: partner.walletKey,
      fiatAccountsEnabled: partner.fiatAccountsEnabled,
    })),
    vendors: secrets.vendors.map((vendor) => ({
      name: vendor.name,
      apiKey: vendor.apiKey,
      walletAddress: localSigner(vendor.walletKey).address,
      walletPrivateKey: vendor.walletKey,
    })),
    chains: chains.map(({ slug, chainId, publicRpcUrl, contracts, treasury, tokens }) => ({
      slug,
      chainId,
      rpcUrl: publicRpcUrl,
      signing: { contracts, service, treasury, solver, tokens },
    })),
  };
}
