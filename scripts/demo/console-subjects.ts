import type { Causeway } from '@causeway/sdk';

/** What the pages of the console are about: ids for addresses that have a parameter, by its name. */
export interface ConsoleSubjects {
  readonly orderId: string;
  readonly userId: string;
  readonly recipientId: string;
  readonly accountId: string;
  readonly endpointId: string;
  readonly partnerId: string;
  readonly vendorId: string;
}

const PAIR = { crypto_currency: 'USDC', fiat_currency: 'EUR' };
const PAYOUT = { full_name: 'Ada Lovelace', iban: 'DE89370400440532013000' };

/**
 * Fills a sandbox with customers, orders and cases, so that no page is empty. Of the vendors only the first, whose desk is
 * shown, is there meanwhile: all orders are to be its own.
 */
export async function furnish(
  partner: Causeway,
  operator: Causeway,
  [, ...others]: readonly Causeway[],
): Promise<ConsoleSubjects> {
  for (const { vendor } of others) await vendor.setOnline({ online: false });
  const subjects = await furnishWithOne(partner, operator);
  for (const { vendor } of others) await vendor.setOnline({ online: true });
  // The first takes no orders as small as this; the others are back a moment later.
  const small = { ...PAIR, fiat_amount: '100.00' };
  await until(() =>
    partner.onramp.estimate(small).then(
      () => true,
      () => others.length === 0,
    ),
  );
  return subjects;
}

async function furnishWithOne(partner: Causeway, operator: Causeway): Promise<ConsoleSubjects> {
  const ada = await customer(partner, 'Ada', 'Lovelace', 'VERIFIED');
  await customer(partner, 'Ben', 'Nevis', 'UNDER_REVIEW');
  const iris = await customer(partner, 'Iris', 'Okoro', 'VERIFIED');
  const accountId = await fiatAccount(partner, iris);
  const { recipient_id: recipientId } = await partner.recipients.create({
    recipient_name: 'Grace Hopper',
    recipient_country: 'DE',
  });
  await partner.recipients.create({ recipient_name: 'Review Person', recipient_country: 'DE' });
  const endpoint = await partner.webhookEndpoints.create({ url: 'http://127.0.0.1:9/webhooks' });
  const orderId = await onramp(partner, ada, '420.00');
  await partner.orders.waitFor(orderId, 'awaiting_fiat_transfer');
  await partner.orders.confirmPaymentSent(orderId);
  await partner.orders.waitFor(orderId, 'completed');

  // From here on everybody waits, so that orders stay where they are.
  await partner.sandbox.setSettings({ auto_advance: false });
  await onramp(partner, ada, '475.00');
  const held = await onramp(partner, ada, '640.00');
  await partner.sandbox.orderEvent(held, { event: 'hold_for_review' });
  const disputed = await onramp(partner, ada, '710.00');
  await partner.sandbox.orderEvent(disputed, { event: 'vendor_accepts' });
  await partner.sandbox.orderEvent(disputed, { event: 'escrow_funded' });
  await partner.orders.waitFor(disputed, 'awaiting_fiat_transfer');
  await partner.orders.confirmPaymentSent(disputed);
  await partner.sandbox.orderEvent(disputed, { event: 'dispute_opened' });

  const [first] = (await operator.operator.partners.list({ limit: 100 })).partners.filter(
    ({ name }) => name === 'Acme Pay',
  );
  const [vendor] = (await operator.operator.vendors.list({ limit: 100 })).vendors;
  if (first === undefined || vendor === undefined) throw new Error('this sandbox has nobody in it');
  return {
    orderId,
    userId: iris,
    recipientId,
    accountId,
    endpointId: endpoint.id,
    partnerId: first.partner_id,
    vendorId: vendor.vendor_id,
  };
}

async function customer(
  partner: Causeway,
  firstName: string,
  lastName: string,
  status: Parameters<Causeway['sandbox']['kycStatus']>[1]['status'],
): Promise<string> {
  const email = `${firstName.toLowerCase()}@example.com`;
  const { id } = await partner.users.create({ email, first_name: firstName, last_name: lastName });
  await partner.sandbox.kycStatus(id, { status });
  return id;
}

async function onramp(partner: Causeway, userId: string, amount: string): Promise<string> {
  const quote = await partner.onramp.quote({
    ...PAIR,
    user_uuid: userId,
    fiat_amount: amount,
  });
  const { order_id: orderId } = await partner.onramp.initiate({
    quote_id: quote.quote_id,
    reference_id: `invoice-${amount}`,
  });
  return orderId;
}

async function fiatAccount(partner: Causeway, userId: string): Promise<string> {
  await partner.paymentDetails.create(userId, {
    rail: 'iban-sepa',
    currency: 'EUR',
    country_code: 'DE',
    details: PAYOUT,
  });
  await partner.fiatAccounts.submitIdentification(userId, {
    date_of_birth: '1990-12-31',
    nationality: 'DE',
    address: 'Example street 1',
    city: 'Berlin',
    postal_code: '10115',
    country_code: 'DE',
  });
  await until(async () => (await partner.fiatAccounts.getIdentification(userId)).status === 'approved');
  const { id } = await partner.fiatAccounts.issue(userId, { currency: 'EUR', jurisdiction: 'DE' });
  await until(async () => (await partner.fiatAccounts.get(userId, id)).status === 'active');
  await partner.sandbox.deposit(userId, id, { amount: '80.00', sender_name: 'Iris Okoro' });
  return id;
}

const POLL_MS = 200;
const LONGEST_MS = 60_000;

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  for (
    const end = Date.now() + LONGEST_MS;
    !(await isTrue());
    await new Promise((done) => setTimeout(done, POLL_MS))
  ) {
    if (Date.now() > end) throw new Error('the sandbox did not get there in time');
  }
}
