import type { TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import { startWebhookSink } from '../harness/webhook-sink.ts';
import type { ExampleRun } from './example-run.ts';

/** Partners, vendors and their keys; offers and who authorizes them. */
export async function accountSteps(_gateway: TestGateway, { send }: ExampleRun): Promise<void> {
  const { partner } = await send('createPartner');
  const ofPartner = { partner_id: partner.partner_id };
  await send('changePartner', { params: ofPartner });
  await send('getPartner', { params: ofPartner });
  await send('setWidgetOrigins', { params: ofPartner });
  await send('getWidgetOrigins', { params: ofPartner });
  await send('listPartners');
  await send('createPartnerKey', { params: ofPartner });
  await send('listPartnerKeys', { params: ofPartner });

  const { vendor, vendor_key } = await send('createVendor');
  const ofVendor = { vendor_id: vendor.vendor_id };
  await send('changeVendor', { params: ofVendor });
  await send('getVendor', { params: ofVendor });
  await send('listVendors');
  const { key_id } = await send('createVendorKey', { params: ofVendor });
  await send('listVendorKeys', { params: ofVendor });
  await send('revokeKey', { params: { key_id } });
  await send('createOperatorKey');
  await send('listOperatorKeys');
  const { invitation_id } = await send('createInvitation');
  await send('listInvitations');
  await send('withdrawInvitation', { params: { invitation_id } });

  const { key } = vendor_key;
  const { offer_id } = await send('createVendorOffer', { key });
  await send('changeVendorOffer', { params: { offer_id }, key });
  await send('setVendorOnline', { key });
  await send('listVendorOffers', { key });
  await send('listOffersForReview');
  await send('decideOfferAuthorization', { params: { offer_id } });
  await send('withdrawVendorOffer', { params: { offer_id }, key });
  const record = { kind: 'institutions', id: 'mtn-momo-ghana' };
  await send('getReferenceRecord', { params: record });
  await send('putReferenceRecord', { params: record });
  await send('listReferenceRecords', { params: { kind: 'institutions' } });
  await send('getReferenceUsage', { params: record });
}

/** A further endpoint, of its own events. */
export async function webhookEndpointSteps(
  gateway: TestGateway,
  { send }: ExampleRun,
  changeOrder: () => Promise<unknown>,
): Promise<void> {
  const sink = await startWebhookSink({ tls: false });
  try {
    const { id: endpoint_id } = await send('createWebhookEndpoint');
    const params = { endpoint_id };
    await gateway.partner.webhookEndpoints.update(endpoint_id, { url: sink.url });
    await send('changeWebhookEndpoint', { params });
    await send('listWebhookEndpoints');
    await send('getWebhookEndpoint', { params });
    await send('testWebhookEndpoint', { params });
    await changeOrder();
    const delivery = await until('a delivery', async () => {
      return (await gateway.partner.webhookEndpoints.listDeliveries(endpoint_id, { status: 'delivered' }))
        .body.data.deliveries[0];
    });
    await send('listWebhookEndpointDeliveries', { params, query: { status: 'delivered' } });
    const ofDelivery = { ...params, delivery_id: delivery.id };
    await send('getWebhookEndpointDelivery', { params: ofDelivery });
    await send('replayWebhookEndpointDelivery', { params: ofDelivery });
    await send('replayLatestEventsToEndpoint', { params });
    await send('rotateWebhookEndpointSecret', { params });
    await send('deleteWebhookEndpoint', { params });
  } finally {
    await sink.close();
  }
}

/** The webhook, what was sent to it, and sending it again. */
export async function webhookSteps(gateway: TestGateway, { send, answers }: ExampleRun): Promise<void> {
  const sink = await startWebhookSink({ tls: false });
  try {
    await send('setWebhook');
    await gateway.partner.webhooks.set({ url: sink.url });
    await send('testWebhook');
    await send('getWebhook');
    await send('listEvents');
    await send('replayLatestEvents');
    const delivery = await until('a delivery', async () => {
      const { body } = await gateway.partner.webhooks.listDeliveries({ status: 'delivered' });
      return body.data.deliveries[0];
    });
    await send('listWebhookDeliveries', { query: { status: 'delivered' } });
    await send('replayWebhookDelivery', { params: { id: delivery.id } });
    const { partners } = (await gateway.operator.partners.list({ limit: 100 })).body.data;
    const { partner_id } = partners.find(({ name }) => name === gateway.partners[0].name)!;
    await send('listPartnerDeliveries', { params: { partner_id }, query: { status: 'delivered' } });
    await send('replayPartnerDelivery', { params: { partner_id, delivery_id: delivery.id } });
    await send('replayPartnerEvents', { params: { partner_id } });
    await send('rotateWebhookSecret');
    await send('deleteWebhook', { params: { id: 'default' } });
    const { events } = (await gateway.partner.events.list({ limit: 500 })).body.data;
    const sent = sink.received.flatMap(({ event }) => event ?? []);
    for (const { event_id, event_type, created_at, data } of [...events, ...sent]) {
      const event = { event_id, event_type, created_at, data };
      const name = `webhook.${event_type}`;
      if (!answers.has(name)) answers.set(name, event);
    }
  } finally {
    await sink.close();
  }
}
