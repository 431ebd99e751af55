import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { consoleUser } from '../harness/console-users.ts';
import { until } from '../harness/until.ts';
import { atomic } from './orders-driver.ts';
import { forgetTreasury, type OrdersFixture, startOrdersFixture } from './orders-fixture.ts';
import { widgetPeople } from './widget-customer.ts';

type Hex = `0x${string}`;
const CHAIN = 'base-mainnet';

/** The settings of the running processes are changed in place, as a restart with another chains file does. */
describe('another treasury in the chains file', () => {
  let fixture: OrdersFixture;
  let former: Hex;

  beforeAll(async () => {
    fixture = await startOrdersFixture();
    former = settings().treasury;
  });
  afterAll(() => fixture?.gateway.stop());

  const settings = () => fixture.gateway.deps.chains.get(CHAIN).settings;

  /** While `work` runs, the file names another treasury: its address. */
  async function withOther(work: (other: Hex) => Promise<void>): Promise<void> {
    const other = privateKeyToAccount(generatePrivateKey()).address;
    settings().treasury = other;
    try {
      await work(other);
    } finally {
      settings().treasury = former;
    }
  }

  /** Off-ramp, up to the proof: with it the vendor has signed the release. */
  async function prove(orderId: string): Promise<void> {
    const { driver, parties } = fixture;
    await driver.fund(orderId);
    await driver.reaches(orderId, 'crypto_received');
    const vendor = await parties.vendorOf(orderId);
    const proof = { payment_reference: 'E2E-1', release_signature: await vendor.sign('release') };
    expect((await vendor.post('payment-proof', proof)).body.data.status).toBe('fiat_payment_started');
  }

  async function settle(orderId: string): Promise<bigint> {
    const { driver, parties } = fixture;
    for (const decision of ['start', 'accepted']) {
      expect((await parties.operate(orderId, 'proof-review', { decision })).status).toBe(200);
    }
    expect((await driver.act(orderId, 'confirm-fiat-received')).status).toBe(200);
    return feeOf(await driver.reaches(orderId, 'completed'));
  }

  const feeOf = (order: { fee_breakdown: { platform_fee: string } }) =>
    atomic(order.fee_breakdown.platform_fee);

  it('leaves a release that is signed as it is: it pays the treasury of its time', async () => {
    const { driver } = fixture;
    const orderId = await driver.offrampOrder();
    await prove(orderId);
    const before = await driver.balance(former);
    await withOther(async (other) => {
      const fee = await settle(orderId);
      expect(await driver.balance(former)).toBe(before + fee);
      expect(await driver.balance(other)).toBe(0n);
    });
    await driver.booksBalance();
  });

  it('holds for orders whose escrow is fixed after it, and for those from before escrows kept it', async () => {
    const { driver } = fixture;
    const old = await driver.offrampOrder();
    await until('the escrow', async () => (await driver.funds(old)).escrow !== null);
    await forgetTreasury(fixture, old);
    const before = await driver.balance(former);
    await withOther(async (other) => {
      const next = await driver.offrampOrder();
      let fees = 0n;
      for (const orderId of [next, old]) {
        await prove(orderId);
        fees += await settle(orderId);
        expect(await driver.balance(other)).toBe(fees);
      }
      expect(await driver.balance(former)).toBe(before);
    });
  });

  it('is not what the widget and the console hold an older order’s signature against', async () => {
    const { gateway, driver } = fixture;
    const customer = await widgetPeople(gateway, gateway.partners[0]).arrive();
    const { order_id: orderId } = await customer.open('onramp');
    await until('the vendor', () => fixture.parties.vendorId(orderId));
    await driver.event(orderId, 'vendor_accepts');
    const callers = await Promise.all([
      consoleUser(gateway, 'operator', 'admin'),
      consoleUser(gateway, 'partner', 'admin'),
      consoleUser(gateway, 'partner', 'admin', { owner: 1 }),
    ]);
    await withOther(async (other) => {
      const funding = await customer.ask('GET', `/orders/${orderId}/funding`);
      expect(funding.body.data.trust.treasury).toBe(former);
      const shown = async (query: string) => {
        const answers = callers.map((one) => one.call('GET', `/api/v1/console/signing-trust${query}`));
        return (await Promise.all(answers)).map(
          ({ body }) => body.data.chains.find(({ slug }: { slug: string }) => slug === CHAIN).treasury,
        );
      };
      expect(await shown('')).toEqual([other, other, other]);
      // The last one is of another partner, for which there is no such order.
      expect(await shown(`?order_id=${orderId}`)).toEqual([former, former, other]);
    });
  });
});
