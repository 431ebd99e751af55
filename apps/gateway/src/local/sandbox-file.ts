import { join } from 'node:path';
import { writeFileAtomically } from './atomic-file.ts';

export interface SandboxDescription {
  readonly baseUrl: string;
  readonly operatorKey: string;
  readonly partners: readonly SandboxPartner[];
  readonly vendors: readonly SandboxVendor[];
  readonly chains: readonly SandboxChain[];
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
}

/** Writes `<home>/sandbox.json`, where deps and tests find a running sandbox, and answers its path. */
export async function writeSandboxFile(home: string, sandbox: SandboxDescription): Promise<string> {
  const path = join(home, 'sandbox.json');
  await writeFileAtomically(path, `${JSON.stringify(toWire(sandbox), null, 2)}\n`);
  return path;
}

function toWire({ baseUrl, operatorKey, partners, vendors, chains }: SandboxDescription) {
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
    chains: chains.map(({ slug, chainId, rpcUrl }) => ({ slug, chain_id: chainId, rpc_url: rpcUrl })),
  };
}
