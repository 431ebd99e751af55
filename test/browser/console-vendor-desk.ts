import { listSimulatedVendors } from '../../apps/gateway/src/features/vendors/simulated-vendor.ts';
import type { ConsoleGround, ConsoleTab } from '../harness/console.ts';
import { type InjectedWallet, injectWallet } from '../harness/widget-wallet.ts';

interface DeskVendor {
  readonly id: string;
  readonly apiKey: string;
  readonly wallet: InjectedWallet;
}

/** The vendor whose desk it is, its own wallet in the browser. The others are offline, so that every order is its own. */
export async function deskVendor({ gateway }: ConsoleGround, tab: ConsoleTab): Promise<DeskVendor> {
  const { owner } = await tab.page.evaluate(async () => {
    const answer = await fetch('/api/v1/console/session');
    return ((await answer.json()) as { data: { owner: { id: string; name: string } } }).data;
  });
  const { vendors } = gateway.sandbox;
  const others = vendors.filter(({ name }) => name !== owner.name);
  await Promise.all(others.map(({ apiKey }) => gateway.as(apiKey).vendor.setOnline({ online: false })));
  const kept = await listSimulatedVendors(gateway.deps.db, gateway.deps.sealer);
  const key = kept.find(({ row }) => row.vendor_id === owner.id)?.privateKey;
  const apiKey = vendors.find(({ name }) => name === owner.name)?.apiKey;
  if (key === undefined || apiKey === undefined) throw new Error(`the sandbox keeps no key of ${owner.name}`);
  const { chainId, rpcUrl } = gateway.deps.chains.get('base-mainnet').settings;
  return { id: owner.id, apiKey, wallet: await injectWallet(tab.context, { chainId, rpcUrl }, { key }) };
}
