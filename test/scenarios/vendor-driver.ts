import type { RequestOptions } from '@causeway/sdk';
import {
  listSimulatedVendors,
  type SimulatedVendor,
} from '../../apps/gateway/src/features/vendors/simulated-vendor.ts';
import type { Answer, TestGateway } from '../harness/gateway.ts';
import type { SdkAnswers } from '../harness/sdk.ts';
import { orderParties, signSafeTransaction } from './orders-parties.ts';
import {
  type Purpose,
  readVendorOrder,
  type VendorAction,
  type VendorRead,
  vendorAct,
} from './vendor-calls.ts';

/** A vendor's engineer: calls the API with the vendor's key and signs with its wallet. */
export interface VendorClient {
  readonly id: string;
  readonly key: string;
  readonly api: SdkAnswers['vendor'];
  get(orderId: string, what?: VendorRead): Promise<Answer>;
  act(orderId: string, action: VendorAction, body?: object, options?: RequestOptions): Promise<Answer>;
  sign(orderId: string, purpose: Purpose): Promise<`0x${string}`>;
}

export async function vendorClients(gateway: TestGateway): Promise<readonly VendorClient[]> {
  const vendors = await listSimulatedVendors(gateway.deps.db, gateway.deps.sealer);
  return vendors.map((vendor) => driverOf(gateway, vendor));
}

/** The vendor that has the order now. */
export async function holderOf(
  gateway: TestGateway,
  drivers: readonly VendorClient[],
  orderId: string,
): Promise<VendorClient> {
  const holder = await orderParties(gateway).vendorId(orderId);
  const driver = drivers.find(({ id }) => id === holder);
  if (driver === undefined) throw new Error(`no vendor has order ${orderId}`);
  return driver;
}

function driverOf(gateway: TestGateway, { row, privateKey }: SimulatedVendor): VendorClient {
  const known = gateway.sandbox.vendors.find(({ name }) => name === row.name);
  if (known === undefined) throw new Error(`the sandbox has no vendor ${row.name}`);
  const key = known.apiKey;
  const { vendor: api } = gateway.as(key);
  return {
    id: row.vendor_id,
    key,
    api,
    get: (orderId, what = 'order') => readVendorOrder(api.orders, orderId, what),
    act: (orderId, action, body, options) => vendorAct(api.orders, orderId, action, body, options),
    async sign(orderId, purpose) {
      const parameters = await api.orders.signingParameters(orderId, { purpose });
      return signSafeTransaction(privateKey, parameters.body.data.typed_data);
    },
  };
}
