import { privateKeyToAccount } from 'viem/accounts';
import {
  listSimulatedVendors,
  type SimulatedVendor,
} from '../../apps/gateway/src/features/vendors/simulated-vendor.ts';
import type { Answer, CallOptions, TestGateway } from '../harness/gateway.ts';
import { orderParties } from './orders-parties.ts';

/** A vendor's engineer: calls the API with the vendor's key and signs with its wallet. */
export interface VendorClient {
  readonly id: string;
  readonly key: string;
  call(method: string, path: string, options?: Omit<CallOptions, 'key'>): Promise<Answer>;
  get(orderId: string, what?: string): Promise<Answer>;
  act(orderId: string, action: string, body?: object, headers?: Record<string, string>): Promise<Answer>;
  sign(orderId: string, purpose: 'refund' | 'release'): Promise<string>;
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
  const call: VendorClient['call'] = (method, path, options = {}) =>
    gateway.call(method, `/api/v1/vendor/${path}`, { ...options, key });
  return {
    id: row.vendor_id,
    key,
    call,
    get: (orderId, what) => call('GET', `orders/${orderId}${what === undefined ? '' : `/${what}`}`),
    act: (orderId, action, body, headers) =>
      call('POST', `orders/${orderId}/${action}`, {
        ...(body === undefined ? {} : { body }),
        ...(headers === undefined ? {} : { headers }),
      }),
    async sign(orderId, purpose) {
      const parameters = await call('GET', `orders/${orderId}/signing-parameters?purpose=${purpose}`);
      const { typed_data: typed } = parameters.body.data;
      return privateKeyToAccount(privateKey).signTypedData({
        ...typed,
        message: { ...typed.message, nonce: BigInt(typed.message.nonce) },
      });
    },
  };
}
