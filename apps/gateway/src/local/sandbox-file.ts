import { join } from 'node:path';
import type { ChainContracts, ChainToken } from '../chain/chain-settings.ts';
import { writeFileAtomically } from './atomic-file.ts';

export interface SandboxDescription {
  readonly baseUrl: string;
  readonly operatorKey: string;
  readonly partners: readonly SandboxPartner[];
  readonly vendors: readonly SandboxVendor[];
  readonly chains: readonly SandboxChain[];
  /** Who can sign in to /console. */
  readonly console: readonly SandboxConsoleUser[];
}

export interface SandboxPartner {
  readonly name: string;
  readonly apiKey: string;
  readonly widgetKey: string;
  readonly webhookSecret: string;
  readonly walletAddress: string;
  readonly walletPrivateKey: string;
  readonly fiatAccountsEnabled: boolean;
}

export interface SandboxConsoleUser {
  readonly desk: 'partner' | 'operator' | 'vendor';
  readonly email: string;
  readonly password: string;
}

interface SandboxVendor {
  readonly name: string;
  readonly apiKey: string;
  readonly walletAddress: string;
  readonly walletPrivateKey: string;
}

interface SandboxChain {
  readonly slug: string;
  readonly chainId: number;
  readonly rpcUrl: string;
  /** What a wallet holds against what it is asked to sign; on public chains an operator tells it. */
  readonly signing?: {
    readonly contracts: ChainContracts;
    readonly service: string;
    readonly treasury: string;
    readonly solver: string;
    readonly tokens: readonly ChainToken[];
  };
}

/** Writes `<home>/sandbox.json`, where deps and tests find a running sandbox, and answers its path. */
export async function writeSandboxFile(home: string, sandbox: SandboxDescription): Promise<string> {
  const path = join(home, 'sandbox.json');
  await writeFileAtomically(path, `${JSON.stringify(toWire(sandbox), null, 2)}\n`);
  return path;
}

/** As the file has it. */
export function toWire({ baseUrl, operatorKey, partners, vendors, chains, console }: SandboxDescription) {
  return {
    base_url: baseUrl,
    operator_key: operatorKey,
    partners: partners.map((partner) => ({
      name: partner.name,
      api_key: partner.apiKey,
      widget_key: partner.widgetKey,
      webhook_secret: partner.webhookSecret,
      wallet_address: partner.walletAddress,
      wallet_private_key: partner.walletPrivateKey,
      fiat_accounts_enabled: partner.fiatAccountsEnabled,
    })),
    vendors: vendors.map((vendor) => ({
      name: vendor.name,
      api_key: vendor.apiKey,
      wallet_address: vendor.walletAddress,
      wallet_private_key: vendor.walletPrivateKey,
    })),
    console: console.map(({ desk, email, password }) => ({ desk, email, password })),
    chains: chains.map(({ slug, chainId, rpcUrl, signing }) => ({
      slug,
      chain_id: chainId,
      rpc_url: rpcUrl,
      ...(signing === undefined ? {} : { signing: signingToWire(signing) }),
    })),
  };
}

function signingToWire({
  contracts,
  service,
  treasury,
  solver,
  tokens,
}: NonNullable<SandboxChain['signing']>) {
  return {
    contracts: {
      forwarder: contracts.forwarder,
      router: contracts.router,
      safe_singleton: contracts.safeSingleton,
      safe_proxy_factory: contracts.safeProxyFactory,
      fallback_handler: contracts.fallbackHandler,
      multi_send_call_only: contracts.multiSendCallOnly,
    },
    service_address: service,
    treasury_address: treasury,
    solver_address: solver,
    tokens: tokens.map(({ code, address, decimals }) => ({ code, address, decimals })),
  };
}
