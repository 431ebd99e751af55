import { randomUUID } from 'node:crypto';
import type { KycStatus, OfframpQuote, Order, PaymentDetailsInput, Quote } from '@causeway/sdk';
import { SANDBOX_ORDER_EVENTS } from '../generated/codes.ts';
import { AMOUNT, CURRENCY, PRICING, type Pricing, pricingOf, SLUG, UUID } from './read-tools.ts';
import { sandboxTool, type Tool, type ToolContext, ToolError } from './tool.ts';
import { orderView, type Shown } from './views.ts';

const KYC_STATUSES: readonly KycStatus[] = [
  ...(['VERIFIED', 'NOT_INITIATED', 'PENDING_DOCUMENTS', 'IN_PROGRESS', 'UNDER_REVIEW'] as const),
  ...(['VERIFICATION_REJECTED', 'REJECTED'] as const),
];

/** The account that a test customer is paid to where none is named. */
const TEST_ACCOUNT: PaymentDetailsInput = {
  rail: 'iban-sepa',
  currency: 'EUR',
  country_code: 'DE',
  details: { full_name: 'Test Customer', iban: 'DE89370400440532013000' },
};

/** Steps of the partner itself; none of them takes a signature. */
const PARTNER_STEPS: Readonly<Record<string, (orderId: string, context: ToolContext) => Promise<unknown>>> = {
  confirm_payment_sent: (id, { causeway, options }) => causeway.orders.confirmPaymentSent(id, options),
  confirm_fiat_received: (id, { causeway, options }) => causeway.orders.confirmFiatReceived(id, options),
  cancel: (id, { causeway, options }) => causeway.orders.cancel(id, {}, options),
};

async function createCustomer(status: KycStatus, { causeway, options }: ToolContext): Promise<string> {
  const email = `mcp-${randomUUID()}@example.com`;
  const { id } = await causeway.users.create({ email, first_name: 'Test', last_name: 'Customer' }, options);
  if (status !== 'NOT_INITIATED') await causeway.sandbox.kycStatus(id, { status }, options);
  return id;
}

interface NewOrder extends Pricing {
  readonly user_uuid?: string;
  readonly payment_details_id?: number;
  readonly payment_details?: PaymentDetailsInput;
  readonly reference_id?: string;
}

async function createOrder(args: NewOrder, context: ToolContext): Promise<Shown> {
  const { user_uuid, payment_details_id, payment_details, reference_id, ...asked } = args;
  const pricing = pricingOf(asked);
  const account =
    payment_details ?? (pricing.fiat_currency.toUpperCase() === 'EUR' ? TEST_ACCOUNT : undefined);
  if (asked.direction === 'offramp' && payment_details_id === undefined && account === undefined) {
    throw new ToolError(
      'INVALID_ARGUMENTS',
      'Outside EUR an off-ramp order needs payment_details; list_supported with what=rails names their fields.',
    );
  }
  const customer = user_uuid ?? (await createCustomer('VERIFIED', context));
  const { causeway, options } = context;
  let quote: Quote | OfframpQuote;
  let order: Order;
  if (asked.direction === 'onramp') {
    quote = await causeway.onramp.quote({ ...pricing, user_uuid: customer }, options);
    order = await causeway.onramp.initiate({ quote_id: quote.quote_id, reference_id }, options);
  } else {
    const payTo = payment_details_id ?? (await paymentDetails(customer, account ?? TEST_ACCOUNT, context));
    const request = { ...pricing, user_uuid: customer, payment_details_id: payTo };
    quote = await causeway.offramp.quote(request, options);
    order = await causeway.offramp.initiate({ quote_id: quote.quote_id, reference_id }, options);
  }
  return { order: orderView(order), quote_expires_at: quote.expires_at };
}

async function paymentDetails(
  customer: string,
  account: PaymentDetailsInput,
  { causeway, options }: ToolContext,
): Promise<number> {
  return (await causeway.paymentDetails.create(customer, account, options)).id;
}

const orders: readonly Tool[] = [
  sandboxTool<{ readonly kyc_status?: KycStatus }>({
    name: 'sandbox_create_customer',
    title: 'Create a test customer',
    description: 'A made-up customer with a KYC status; VERIFIED unless given. Answers its user_uuid.',
    destroys: false,
    input: {
      type: 'object',
      properties: { kyc_status: { type: 'string', enum: KYC_STATUSES, default: 'VERIFIED' } },
      additionalProperties: false,
    },
    output: { user_uuid: 'string', kyc_status: 'string' },
    run: async ({ kyc_status = 'VERIFIED' }, context) => ({
      user_uuid: await createCustomer(kyc_status, context),
      kyc_status,
    }),
  }),
  sandboxTool<NewOrder>({
    name: 'sandbox_create_order',
    title: 'Create a test order',
    description:
      'Quotes and opens an order. Without user_uuid for a new test customer; an off-ramp in EUR pays a test account unless payment details are given. An off-ramp order then waits for a signature, which no tool of this server makes.',
    destroys: false,
    input: {
      type: 'object',
      properties: {
        ...PRICING,
        user_uuid: UUID,
        payment_details_id: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
        payment_details: {
          type: 'object',
          description: 'Off-ramp: the account of the payout, with the fields of its rail. Test data only.',
          properties: {
            rail: { type: 'string', maxLength: 80 },
            currency: { type: 'string', maxLength: 10 },
            country_code: { type: 'string', maxLength: 2 },
            institution_id: { type: 'string', maxLength: 80 },
            details: {
              type: 'object',
              properties: {},
              additionalProperties: { type: 'string', maxLength: 200 },
            },
          },
          required: ['rail', 'currency', 'country_code', 'details'],
          additionalProperties: false,
        },
        reference_id: { type: 'string', maxLength: 255 },
      },
      required: ['direction'],
      additionalProperties: false,
    },
    output: { order: 'object', quote_expires_at: 'string' },
    run: createOrder,
  }),
  sandboxTool<{ readonly order_id: string; readonly step: string; readonly cost_multiplier?: string }>({
    name: 'sandbox_drive_order',
    title: 'Make something happen to a test order',
    description:
      'One step: what a vendor, bank, chain, bridge or operator does (vendor_accepts, escrow_funded, …), or a step of the partner that needs no signature (confirm_payment_sent, confirm_fiat_received, cancel). A step that does not fit is refused with those that do. Switch sandbox_auto_advance off first, or the simulated actors are faster.',
    destroys: true,
    input: {
      type: 'object',
      properties: {
        order_id: UUID,
        step: { type: 'string', enum: [...SANDBOX_ORDER_EVENTS, ...Object.keys(PARTNER_STEPS)] },
        cost_multiplier: { ...AMOUNT, description: 'With reprice: cost as a multiple of what was expected.' },
      },
      required: ['order_id', 'step'],
      additionalProperties: false,
    },
    output: { order: 'object' },
    async run({ order_id, step, cost_multiplier }, context) {
      const { causeway, options } = context;
      const own = PARTNER_STEPS[step];
      if (own === undefined)
        await causeway.sandbox.orderEvent(order_id, { event: step, cost_multiplier }, options);
      else await own(order_id, context);
      return { order: orderView(await causeway.orders.get(order_id, options)) };
    },
  }),
];

const surroundings: readonly Tool[] = [
  sandboxTool<{
    readonly chain: string;
    readonly token: string;
    readonly address: string;
    readonly amount: string;
  }>({
    name: 'sandbox_faucet',
    title: 'Get test tokens',
    description:
      'Tokens or gas (token: native) for a wallet on a local chain; the balance is there when it answers.',
    destroys: false,
    input: {
      type: 'object',
      properties: {
        chain: { ...SLUG, description: 'Slug, such as base-mainnet.' },
        token: { ...CURRENCY, description: 'USDC, USDT, USDT0 or native.' },
        address: { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$' },
        amount: AMOUNT,
      },
      required: ['chain', 'token', 'address', 'amount'],
      additionalProperties: false,
    },
    output: { transaction_hash: 'string' },
    run: async (args, { causeway, options }) => ({ ...(await causeway.sandbox.faucet(args, options)) }),
  }),
  sandboxTool<{ readonly advance_seconds?: number; readonly reset?: boolean }>({
    name: 'sandbox_clock',
    title: 'Read or move the clock',
    description:
      'The business clock of the whole sandbox: quotes, time-outs of orders and retries of webhooks follow it. advance_seconds moves it forward, reset puts it back, without either it is read.',
    destroys: true,
    input: {
      type: 'object',
      properties: {
        advance_seconds: { type: 'integer', minimum: 1, maximum: 31_536_000 },
        reset: { type: 'boolean' },
      },
      additionalProperties: false,
    },
    output: { now: 'string', offset_seconds: 'integer' },
    async run({ advance_seconds, reset = false }, { causeway, options }) {
      if (reset && advance_seconds !== undefined) {
        throw new ToolError('INVALID_ARGUMENTS', 'Give advance_seconds or reset, not both.');
      }
      if (reset) return { ...(await causeway.sandbox.resetClock(options)) };
      if (advance_seconds === undefined) return { ...(await causeway.sandbox.clock(options)) };
      return { ...(await causeway.sandbox.advanceClock({ seconds: advance_seconds }, options)) };
    },
  }),
  sandboxTool<{ readonly on: boolean }>({
    name: 'sandbox_auto_advance',
    title: 'Switch the simulated actors',
    description:
      'On, as at first: vendors and banks of the sandbox act by themselves about a second after each step. Off: they wait for sandbox_drive_order. Stays until it is changed.',
    destroys: false,
    input: {
      type: 'object',
      properties: { on: { type: 'boolean' } },
      required: ['on'],
      additionalProperties: false,
    },
    output: { auto_advance: 'boolean' },
    run: async ({ on }, { causeway, options }) => ({
      ...(await causeway.sandbox.setSettings({ auto_advance: on }, options)),
    }),
  }),
];

/** Tools that change something: in a sandbox only. */
export const SANDBOX_TOOLS: readonly Tool[] = [...orders, ...surroundings];
