import { type Causeway, isCausewayError, type Order } from '@causeway/sdk';
import { type Signer, signBridge, signRefund, signTransfer, type Trust } from '@causeway/sdk/signing';
import type { Narrator } from './narrator.ts';

/** A partner's engineer: a client whose calls are printed, a wallet, and what the wallet may trust. */
export interface Stage {
  readonly causeway: Causeway;
  readonly signer: Signer;
  readonly trust: Trust;
  readonly narrator: Narrator;
  /** Told before the first webhook of an order can come. */
  follow(orderId: string): void;
  /** Prints what the chain holds now. */
  showBalances(escrow: string): Promise<void>;
}

/** What an order did, as far as the money can be followed by it. */
export interface Played {
  readonly orderId: string;
  readonly escrow: string;
  readonly vendor: string;
  /** What the partner's wallet gave to the bridge. */
  readonly sentOut: bigint;
}

const WAIT = { timeout: 120_000 };
/** In a sandbox nobody pays out an order of this amount. */
const NEVER_PAID = '113.21';
const NONCE_ATTEMPTS = 10;

export async function playOnramp(
  stage: Stage,
  destination: { readonly destination_chain: string; readonly destination_address: string },
): Promise<Played> {
  const { causeway, narrator, signer, trust } = stage;
  await narrator.heading('1  On-ramp with send-out: 100 EUR become USDC on another chain');
  const customer = await verifiedCustomer(stage, 'Ada', 'Lovelace');
  await narrator.tell('A quote is firm for 60 seconds. The partner takes 1 %, and opens the order.');
  const quote = await causeway.onramp.quote({
    ...{ user_uuid: customer, crypto_currency: 'USDC', fiat_currency: 'EUR', fiat_amount: '100.00' },
    partner_fee_pct: '1',
  });
  const { order_id: orderId } = await causeway.onramp.initiate({ quote_id: quote.quote_id });
  stage.follow(orderId);

  await narrator.tell('A vendor accepts, and locks its USDC in the order’s own escrow: a 2-of-3 Safe.');
  const asked = await causeway.orders.waitFor(orderId, 'awaiting_fiat_transfer', WAIT);
  await stage.showBalances((await escrowOf(stage, orderId)).address);
  const payTo = Object.values(asked.vendor_payment_details ?? {}).join(', ');
  await narrator.tell(`The customer pays 100.00 EUR to ${payTo}, and the partner says so.`);
  await causeway.orders.confirmPaymentSent(orderId);

  await narrator.tell('The vendor finds the money and signs: the escrow pays the partner’s wallet.');
  const completed = await causeway.orders.waitFor(orderId, 'completed', WAIT);
  await stage.showBalances((await escrowOf(stage, orderId)).address);
  await narrator.tell('The customer wants it elsewhere. The wallet signs, after checking what it signs.');
  let sentOut = 0n;
  await withFreshNonce(async () => {
    const parameters = await causeway.orders.bridgeParameters(orderId, destination);
    const body = await signBridge({ order: completed, parameters, destination, trust }, signer);
    await causeway.orders.authorizeBridge(orderId, body);
    sentOut = BigInt(parameters.amount_atomic);
  });
  await causeway.orders.waitFor(orderId, 'send_out_completed', WAIT);
  const parties = await partiesOf(stage, orderId);
  await stage.showBalances(parties.escrow);
  return { ...parties, sentOut };
}

export async function playOfframp(stage: Stage): Promise<Played> {
  const { causeway, narrator } = stage;
  await narrator.heading('2  Off-ramp: USDC of the partner become 100 EUR on an account');
  const order = await fundedOfframp(stage, '100.00');
  await narrator.tell('A vendor pays the customer’s bank account, and an operator reviews its proof.');
  await causeway.orders.waitFor(order.order_id, 'awaiting_fiat_received_confirmation', WAIT);
  await narrator.tell('The customer has the euros: the escrow pays the vendor, the fees and nobody else.');
  await causeway.orders.confirmFiatReceived(order.order_id);
  await causeway.orders.waitFor(order.order_id, 'completed', WAIT);
  const parties = await partiesOf(stage, order.order_id);
  await stage.showBalances(parties.escrow);
  return parties;
}

export async function playRefund(stage: Stage): Promise<Played> {
  const { causeway, narrator, signer, trust } = stage;
  await narrator.heading('3  Refund: an off-ramp that stops with the crypto in escrow');
  const { order_id: orderId } = await fundedOfframp(stage, NEVER_PAID);
  await narrator.tell('Nobody pays this one. The partner cancels it and takes the deposit back.');
  await causeway.orders.cancel(orderId, { reason: 'the customer changed their mind' });
  const order = await causeway.orders.waitFor(
    orderId,
    ({ allowed_actions: allowed }) => allowed.includes('authorize-refund'),
    WAIT,
  );
  const parameters = await causeway.orders.refundParameters(orderId);
  const owners = await ownersOf(stage, orderId);
  const body = await signRefund({ order, parameters, owners, trust }, signer);
  await causeway.orders.authorizeRefund(orderId, body);
  await escrowEmptied(stage, orderId);
  const parties = await partiesOf(stage, orderId);
  await stage.showBalances(parties.escrow);
  return parties;
}

async function verifiedCustomer({ causeway, narrator }: Stage, first: string, last: string): Promise<string> {
  await narrator.tell(`A customer, ${first} ${last}. A sandbox may decide KYC itself.`);
  const email = `${first}.${process.hrtime.bigint()}@example.com`.toLowerCase();
  const { id } = await causeway.users.create({ email, first_name: first, last_name: last });
  await causeway.sandbox.kycStatus(id, { status: 'VERIFIED' });
  return id;
}

async function fundedOfframp(stage: Stage, fiatAmount: string): Promise<Order> {
  const { causeway, narrator, signer, trust } = stage;
  const customer = await verifiedCustomer(stage, 'Grace', 'Hopper');
  const account = await causeway.paymentDetails.create(customer, {
    ...{ rail: 'iban-sepa', currency: 'EUR', country_code: 'DE' },
    details: { full_name: 'Grace Hopper', iban: 'DE89370400440532013000' },
  });
  const quote = await causeway.offramp.quote({
    ...{ user_uuid: customer, payment_details_id: account.id, provider_scope: 'p2p' },
    ...{ crypto_currency: 'USDC', fiat_currency: 'EUR', fiat_amount: fiatAmount, partner_fee_pct: '1' },
  });
  const order = await causeway.offramp.initiate({ quote_id: quote.quote_id });
  stage.follow(order.order_id);
  await narrator.tell('The wallet signs the transfer into escrow; the service sends it and pays the gas.');
  await withFreshNonce(async () => {
    const parameters = await causeway.orders.transferParameters(order.order_id);
    const owners = await ownersOf(stage, order.order_id);
    const body = await signTransfer({ order, parameters, owners, trust }, signer);
    await causeway.orders.authorizeTransfer(order.order_id, body);
  });
  const funded = await causeway.orders.waitFor(order.order_id, 'crypto_received', WAIT);
  await stage.showBalances((await escrowOf(stage, order.order_id)).address);
  return funded;
}

/** Another order of the wallet may have taken the nonce. */
async function withFreshNonce(authorize: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await authorize();
    } catch (error) {
      if (!isCausewayError(error, 'NONCE_ALREADY_USED') || attempt === NONCE_ATTEMPTS) throw error;
    }
  }
}

async function escrowOf({ causeway }: Stage, orderId: string) {
  const { escrow } = await causeway.orders.funds(orderId);
  if (escrow === null) throw new Error(`order ${orderId} has no escrow`);
  return escrow;
}

const ownersOf = async (stage: Stage, orderId: string) => (await escrowOf(stage, orderId)).owners;

async function escrowEmptied(stage: Stage, orderId: string): Promise<void> {
  const deadline = performance.now() + WAIT.timeout;
  while ((await escrowOf(stage, orderId)).state !== 'emptied') {
    if (performance.now() > deadline) throw new Error(`the escrow of ${orderId} is not empty`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

async function partiesOf(stage: Stage, orderId: string): Promise<Played> {
  const { address, owners } = await escrowOf(stage, orderId);
  const isPartner = (owner: string) => owner.toLowerCase() === stage.trust.wallet.toLowerCase();
  const vendor = isPartner(owners.seller) ? owners.buyer : owners.seller;
  return { orderId, escrow: address, vendor, sentOut: 0n };
}
