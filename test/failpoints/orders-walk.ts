import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { describeEscrow } from '../../apps/gateway/src/chain/escrow/escrow.ts';
import { readCursor } from '../../apps/gateway/src/chain/watcher/watch.store.ts';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { callRpc, toQuantity } from '../../apps/gateway/src/local/chain-rpc.ts';
import { connect } from '../harness/database.ts';
import type { TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import { chainDriver } from '../scenarios/chain-driver.ts';
import { type OrdersDriver, ordersDriver } from '../scenarios/orders-driver.ts';
import { orderParties } from '../scenarios/orders-parties.ts';
import { thirdPartySender } from '../scenarios/third-party-sender.ts';
import { type Round, VENDOR_RESPONSE_SECONDS } from './round.ts';

/** Orders that do not go as planned, by the doing of others than the caller: vendors, the bridge, the chains. */
export async function walkOrders(round: Round): Promise<void> {
  const { gateway } = round;
  const driver = ordersDriver(gateway);
  await gateway.sdk().sandbox.setSettings({ auto_advance: false });
  // Those that move a clock have nothing beside them that it could end.
  await silentVendors(gateway, driver);
  await lapsedTransfer(gateway, driver);
  await Promise.all([
    automaticRefund(driver),
    bridgePaysOut(driver),
    deployedByAnother(gateway, driver),
    blockedRecipient(gateway, driver),
  ]);
  await clearedTransaction(gateway, driver);
  await refusedLogs(round);
  await rolledBackChain(gateway);
}

const CHAIN = 'base-mainnet';
const OTHER_CHAIN = 'arbitrum-one';

/** Everybody would sell at the quoted rate. */
const cheapenAll = statement<[]>(
  'test.failpoints_cheapen_offers',
  `UPDATE offers SET fixed_price = 0.5, margin_pct = NULL
    WHERE side = 'SELL' AND crypto_currency = 'USDC' AND fiat_currency = 'EUR'`,
);
const waiters = `SELECT count(*)::integer AS count FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock'`;

/** One order is cancelled at the moment when its next vendor is found, the other goes to its next vendor. */
async function silentVendors(gateway: TestGateway, driver: OrdersDriver): Promise<void> {
  const parties = orderParties(gateway);
  const fallSilent = async (orderId: string) => {
    const first = await parties.vendorId(orderId);
    await gateway.partner.sandbox.advanceClock({ seconds: VENDOR_RESPONSE_SECONDS + 1 });
    await until('the vendor to be passed over', async () => (await parties.vendorId(orderId)) !== first);
  };
  const cancelled = await driver.onrampOrder();
  await fallSilent(cancelled);
  // Inside a transaction the list of who waits stays as it was first seen.
  const [owner, onlooker] = [await connect(gateway.databaseUrl), await connect(gateway.databaseUrl)];
  const waiting = async (count: number) => (await onlooker.query(waiters)).rows[0].count >= count;
  try {
    await owner.query('BEGIN');
    await owner.query('SELECT 1 FROM orders WHERE order_id = $1 FOR UPDATE', [cancelled]);
    const cancelling = driver.act(cancelled, 'cancel');
    await until('the partner to wait', () => waiting(1));
    await gateway.deps.db.query(SYSTEM, cheapenAll, []);
    await until('the next vendor to wait behind', () => waiting(2));
    await owner.query('COMMIT');
    const { status, text } = await cancelling;
    expect([status, text]).toEqual([200, expect.anything()]);
  } finally {
    await Promise.all([owner.end(), onlooker.end()]);
  }
  const reassigned = await driver.onrampOrder();
  await fallSilent(reassigned);
  await until('the next vendor', () => parties.vendorId(reassigned).then((id) => id !== null));
  await driver.act(reassigned, 'cancel');
}

/** The chain refuses a signed transfer until it is too late for it. */
async function lapsedTransfer(gateway: TestGateway, driver: OrdersDriver): Promise<void> {
  const [partner] = gateway.partners;
  const chain = chainDriver(gateway);
  const orderId = await driver.offrampOrder();
  await until('the escrow', async () => (await driver.funds(orderId)).escrow !== null);
  const signed = await driver.signedFunding(orderId);
  await chain.allowRouter(partner, 0n);
  expect((await driver.act(orderId, 'authorize-crypto-transfer', signed)).status).toBe(200);
  await chain.passTime(700);
  await driver.reaches(orderId, 'awaiting_crypto_transfer_authorization');
  await chain.allowRouter(partner, 2n ** 255n);
  await driver.act(orderId, 'cancel');
}

async function funded(driver: OrdersDriver, fields?: Record<string, unknown>): Promise<string> {
  const orderId = await driver.offrampOrder(fields);
  expect((await driver.fund(orderId)).status).toBe(200);
  await driver.reaches(orderId, 'crypto_received');
  return orderId;
}

/** The price has run away: the deposit goes back without anybody asking for it. */
async function automaticRefund(driver: OrdersDriver): Promise<void> {
  const orderId = await funded(driver);
  await driver.event(orderId, 'reprice', { cost_multiplier: '1.25' });
  await until('the refund', async () => (await driver.funds(orderId)).escrow.state === 'emptied');
}

async function locked(driver: OrdersDriver): Promise<string> {
  const orderId = await driver.onrampOrder();
  for (const event of ['vendor_accepts', 'escrow_funded']) await driver.event(orderId, event);
  return orderId;
}

async function released(driver: OrdersDriver, orderId: string): Promise<void> {
  await driver.act(orderId, 'confirm-payment-sent');
  await driver.event(orderId, 'vendor_confirms_fiat');
  await driver.reaches(orderId, 'completed');
}

async function bridgePaysOut(driver: OrdersDriver): Promise<void> {
  const orderId = await locked(driver);
  await released(driver, orderId);
  const to = `0x${randomBytes(20).toString('hex')}` as const;
  expect((await driver.sendOut(orderId, to)).status).toBe(200);
  await driver.event(orderId, 'bridge_settles');
  await driver.reaches(orderId, 'send_out_completed');
  expect(await driver.balance(to, OTHER_CHAIN)).toBeGreaterThan(0n);
}

/** Somebody else has put the escrow's contract in its place before it is paid out. */
async function deployedByAnother(gateway: TestGateway, driver: OrdersDriver): Promise<void> {
  const orderId = await locked(driver);
  const { owners } = (await driver.funds(orderId)).escrow;
  const { settings } = gateway.deps.chains.get(CHAIN);
  const { deploymentCall } = describeEscrow(settings, orderId, owners);
  await chainDriver(gateway).send(gateway.partners[1].walletPrivateKey, deploymentCall);
  await released(driver, orderId);
}

/** Somebody clears the transaction of a release from a wallet app, and another one follows. Mining stops for it. */
async function clearedTransaction(gateway: TestGateway, driver: OrdersDriver): Promise<void> {
  const orderId = await locked(driver);
  await driver.act(orderId, 'confirm-payment-sent');
  const { displace } = await thirdPartySender(gateway, CHAIN);
  await displace(() => driver.event(orderId, 'vendor_confirms_fiat'));
  await driver.reaches(orderId, 'completed');
  expect(await driver.escrowBalance(orderId)).toBe(0n);
}

async function blockedRecipient(gateway: TestGateway, driver: OrdersDriver): Promise<void> {
  const { recipients, sandbox } = gateway.partner;
  const made = await recipients.create({ recipient_name: 'Erika Muster', recipient_country: 'DE' });
  const { recipient_id } = made.body.data;
  await sandbox.screeningStatus(recipient_id, { screening_status: 'clear' });
  const destination = await recipients.createDestination(recipient_id, {
    rail: 'iban-sepa',
    currency: 'EUR',
    country_code: 'DE',
    details: { full_name: 'Erika Muster', iban: 'DE89370400440532013000' },
  });
  const { recipient_destination_id } = destination.body.data;
  const quoted = await driver.offrampQuote({
    sender_id: await driver.user(),
    recipient_id,
    recipient_destination_id,
  });
  const { order_id } = await driver.sdk.offramp.initiate({ quote_id: quoted.body.data.quote_id });
  expect((await driver.fund(order_id)).status).toBe(200);
  await driver.reaches(order_id, 'crypto_received');
  await sandbox.screeningStatus(recipient_id, { screening_status: 'blocked' });
  await until('the hold', () => orderParties(gateway).isHeld(order_id));
}

const cursorOf = async (gateway: TestGateway, chainId: number) =>
  (await readCursor(gateway.deps.db, chainId)) ?? { blockNumber: -1n, blockHash: '0x' };

/** A node finds the logs of one block too many, however few are asked for. */
async function refusedLogs({ gateway, nodes }: Round): Promise<void> {
  const { client, settings } = gateway.deps.chains.get(CHAIN);
  const node = nodes.get(CHAIN)!;
  const refused = (await client.getBlockNumber({ cacheTime: 0 })) + 1n;
  node.intercept = ({ method, params: [filter] }) => {
    if (method !== 'eth_getLogs') return undefined;
    const { fromBlock, toBlock } = filter as { fromBlock: string; toBlock: string };
    const isRefused = BigInt(fromBlock) <= refused && refused <= BigInt(toBlock);
    return isRefused ? { error: { code: -32_602, message: 'too many logs' } } : undefined;
  };
  try {
    await chainDriver(gateway).pay(gateway.partners[0], gateway.partners[1].walletAddress, 1n);
    await until('the block to be read', async () => {
      return (await cursorOf(gateway, settings.chainId)).blockNumber >= refused;
    });
  } finally {
    node.intercept = () => undefined;
  }
}

/** The local chain has lost blocks that were final, all of them empty. */
async function rolledBackChain(gateway: TestGateway): Promise<void> {
  const { client, settings } = gateway.deps.chains.get(OTHER_CHAIN);
  const { rpcUrl, chainId, confirmations } = settings;
  await callRpc(rpcUrl, 'hardhat_mine', [toQuantity(confirmations + 3)]);
  const final = (await client.getBlockNumber({ cacheTime: 0 })) - BigInt(confirmations) + 1n;
  await until('the blocks to be read', async () => (await cursorOf(gateway, chainId)).blockNumber >= final);
  await callRpc(rpcUrl, 'causeway_reorg', [confirmations + 2]);
  await until('the chain to be read again', async () => {
    const { blockNumber, blockHash } = await cursorOf(gateway, chainId);
    return blockNumber >= final && (await client.getBlock({ blockNumber })).hash === blockHash;
  });
}
