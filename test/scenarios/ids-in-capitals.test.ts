import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import { startWebhookSink, type WebhookSink } from '../harness/webhook-sink.ts';
import { opensslAccepts } from '../harness/webhook-sink-openssl.ts';
import { fiatDriver, IDENTIFICATION } from './fiat-driver.ts';
import type { OrdersDriver } from './orders-driver.ts';
import { startOrdersFixture } from './orders-fixture.ts';
import type { OrderParties } from './orders-parties.ts';

/** Some languages write a UUID in capitals. What is sealed for a row names its id letter by letter. */
describe('an id in capitals names the same', () => {
  let gateway: TestGateway;
  let driver: OrdersDriver;
  let parties: OrderParties;
  let sink: WebhookSink;

  beforeAll(async () => {
    ({ gateway, driver, parties } = await startOrdersFixture());
    sink = await startWebhookSink({ tls: false });
  });
  afterAll(async () => {
    await sink?.close();
    await gateway?.stop();
  });

  const capitals = (id: string) => id.toUpperCase();

  it('a recipient that was changed can be read, listed and paid', async () => {
    const { recipients } = gateway.partner;
    const created = await recipients.create({ recipient_name: 'José Núñez', recipient_country: 'ES' });
    const id = created.body.data.recipient_id as string;
    const changed = await recipients.update(capitals(id), { recipient_name: 'José Núñez Pérez' });
    expect(changed.body.data).toMatchObject({ recipient_id: id, version: 2 });
    for (const asked of [id, capitals(id)]) {
      const read = await recipients.get(asked);
      expect(read.body.data).toMatchObject({ recipient_id: id, recipient_name: 'José Núñez Pérez' });
    }
    expect((await recipients.list()).text).toContain('José Núñez Pérez');
  });

  it('a customer who was identified is approved and has an account issued', async () => {
    const fiat = fiatDriver(gateway);
    const userId = capitals(await fiat.verified());
    await fiat.sdk.fiatAccounts.submitIdentification(userId, IDENTIFICATION);
    await until('the bank’s approval', async () => {
      const { status } = await fiat.sdk.fiatAccounts.getIdentification(userId);
      return status === 'approved';
    });
    expect(await fiat.account(userId)).toBeTruthy();
  });

  it('a vendor’s account and a payer’s details reach the other side of their order', async () => {
    const orderId = await driver.onrampOrder();
    const vendor = await parties.vendorOf(capitals(orderId));
    const payment_details = { iban: 'DE02120300000000202051', full_name: 'Vendor' };
    const accepted = await vendor.post('accept', {
      payment_details,
      refund_signature: await vendor.sign('refund'),
    });
    expect(accepted.status, accepted.text).toBe(200);
    expect((await driver.event(orderId, 'escrow_funded')).status).toBe(200);
    await driver.reaches(orderId, 'awaiting_fiat_transfer');
    expect(await driver.read(capitals(orderId))).toMatchObject({
      order_id: orderId,
      vendor_payment_details: payment_details,
    });
    expect((await gateway.partner.orders.list()).text).toContain('DE02120300000000202051');

    const userId = await driver.user();
    const canadian = await driver.onrampOrder({
      fiat_currency: 'CAD',
      payment_network_slug: 'interac-canada',
      user_uuid: capitals(userId),
    });
    for (const event of ['vendor_accepts', 'escrow_funded']) await driver.event(canadian, event);
    await driver.reaches(canadian, 'awaiting_fiat_transfer');
    const payer = { full_name: 'Emma Tremblay', email: 'emma@example.ca' };
    const given = await driver.act(capitals(canadian), 'submit-payer-details', { payment_details: payer });
    expect(given.status, given.text).toBe(200);
    const told = await (await parties.vendorOf(canadian)).get('payment-instructions');
    expect(told.text).toContain('Emma Tremblay');
  });

  it('a webhook whose secret was rotated is signed with the new one', async () => {
    const { webhookEndpoints, webhooks } = gateway.partner;
    await webhooks.set({ url: `${sink.url}/default` });
    const further = (await webhookEndpoints.create({ url: `${sink.url}/further` })).body.data.id as string;
    const [byDefault] = (await webhookEndpoints.list()).body.data.endpoints.filter((one) => one.is_default);
    for (const id of [further, byDefault!.id]) {
      const { secret } = (await webhookEndpoints.rotateSecret(capitals(id))).body.data;
      const before = sink.received.length;
      const tested = await webhookEndpoints.test(capitals(id));
      expect(tested.body.data, tested.text).toMatchObject({ delivered: true });
      const sent = await until('the test event', async () => sink.received[before]);
      expect(await opensslAccepts(sent, secret)).toBe(true);
    }
  });
});
