import { expectSuccess, loadClient } from '../soak/load-process.ts';
import type { LoadPartner } from './partner-requests.ts';

export interface PreparedLoad {
  readonly baseUrl: string;
  readonly operatorKey: string;
  /** How many partners are made. */
  readonly partners: number;
  /** Of partners that exist, in place of those that are made. */
  readonly apiKeys?: readonly string[];
}

const CUSTOMERS = 3;
const ORDERS = 3;
const QUOTE = { crypto_currency: 'USDC', fiat_currency: 'EUR', fiat_amount: '20.00' };

/** Partners with customers that may trade, and some orders to read. Their orders stay where they are. */
export async function preparePartners(load: PreparedLoad): Promise<LoadPartner[]> {
  const prepared: LoadPartner[] = [];
  for (let n = 0; n < (load.apiKeys?.length ?? load.partners); n++) {
    const apiKey = load.apiKeys?.[n] ?? (await newPartner(load, n));
    prepared.push(await preparePartner(load.baseUrl, apiKey, n));
  }
  return prepared;
}

async function newPartner({ baseUrl, operatorKey }: PreparedLoad, n: number): Promise<string> {
  const partner = await expectSuccess(
    loadClient(baseUrl, operatorKey)('POST', '/operator/partners', {
      name: `Load ${n}`,
      settlement_chain: 'base-mainnet',
      wallet_address: `0x${String(n).padStart(40, '5')}`,
    }),
  );
  return partner.secret_key.key;
}

async function preparePartner(baseUrl: string, apiKey: string, n: number): Promise<LoadPartner> {
  const call = loadClient(baseUrl, apiKey);
  await expectSuccess(call('PUT', '/sandbox/settings', { auto_advance: false }));
  const customers: string[] = [];
  const orders: string[] = [];
  for (let one = 0; one < CUSTOMERS; one++) {
    const { id } = await expectSuccess(call('POST', '/partner/users', { email: `load${one}@example.com` }));
    await expectSuccess(call('POST', `/sandbox/users/${id}/kyc-status`, { status: 'VERIFIED' }));
    customers.push(id);
  }
  for (let one = 0; one < ORDERS; one++) {
    const terms = { ...QUOTE, user_uuid: customers[one % CUSTOMERS] };
    const { quote_id } = await expectSuccess(call('POST', '/partner/onramp/quote', terms));
    orders.push((await expectSuccess(call('POST', '/partner/onramp/initiate', { quote_id }))).order_id);
  }
  return { apiKey, address: `198.51.100.${n % 250}`, customers, orders };
}
