import type { Order } from '@causeway/sdk';
import type { Step, TriggerRun } from './trigger-run.ts';

/**
 * Amounts that the simulated actors treat in a way of their own (docs/reference/test-values.md): they keep still, so that an order
 * waits for the next step here. What a step asks for happens whatever the amount.
 */
export const AMOUNT = {
  vendorNeverAccepts: '113.01',
  vendorNeverFunds: '113.03',
  vendorNeverConfirms: '113.09',
  vendorNeverPays: '113.21',
} as const;

/** The simulated bridge neither pays nor refuses here until it is told to. */
const BRIDGE_WAITS = '0x000000000000000000000000000000000de1a7ed';
const CURRENCIES = { crypto_currency: 'USDC', fiat_currency: 'EUR' } as const;
const NAME = { first_name: 'Ada', last_name: 'Lovelace' } as const;

export const newCustomer: Step = {
  says: 'Create a customer',
  calls: ['users.create'],
  opens: true,
  async run({ partner, made }) {
    const { id } = await partner.users.create({
      email: `trigger.${crypto.randomUUID()}@example.com`,
      ...NAME,
    });
    made.userId = id;
  },
};

export function kycBecomes(status: 'VERIFIED' | 'REJECTED' | 'UNDER_REVIEW'): Step {
  return {
    says: `Set the customer’s KYC to ${status}`,
    calls: ['sandbox.kycStatus'],
    opens: true,
    async run({ partner, made }) {
      const reasons = status === 'REJECTED' ? { rejection_reasons: ['DOCUMENT_FORGED'] } : {};
      await partner.sandbox.kycStatus(userOf(made), { status, ...reasons });
    },
  };
}

export function openOnramp(fiatAmount: string): Step {
  return {
    says: `Quote and open an on-ramp order of ${fiatAmount} EUR`,
    calls: ['onramp.quote', 'onramp.initiate'],
    opens: true,
    to: 'awaiting_liquidity_provider',
    async run({ partner, made }) {
      const { quote_id } = await partner.onramp.quote({
        ...CURRENCIES,
        user_uuid: userOf(made),
        fiat_amount: fiatAmount,
      });
      made.orderId = (await partner.onramp.initiate({ quote_id })).order_id;
    },
  };
}

export function openOfframp(fiatAmount: string): Step {
  return {
    says: `Quote and open an off-ramp order of ${fiatAmount} EUR to an account of the customer’s`,
    calls: ['paymentDetails.create', 'offramp.quote', 'offramp.initiate'],
    opens: true,
    to: 'awaiting_crypto_transfer_authorization',
    async run({ partner, made }) {
      const { id } = await partner.paymentDetails.create(userOf(made), {
        ...{ rail: 'iban-sepa', currency: 'EUR', country_code: 'DE' },
        details: { full_name: 'Ada Lovelace', iban: 'DE89370400440532013000' },
      });
      const { quote_id } = await partner.offramp.quote({
        ...CURRENCIES,
        user_uuid: userOf(made),
        payment_details_id: id,
        fiat_amount: fiatAmount,
        provider_scope: 'p2p',
      });
      made.orderId = (await partner.offramp.initiate({ quote_id })).order_id;
    },
  };
}

type SandboxEvent = Parameters<TriggerRun['partner']['sandbox']['orderEvent']>[1]['event'];

/** Something that an actor of the sandbox does when it is asked. */
function sandboxEvent(event: SandboxEvent, says: string, moves: Pick<Step, 'from' | 'between' | 'to'>): Step {
  return {
    says: `${says} (${event})`,
    calls: ['sandbox.orderEvent'],
    ...moves,
    run: async ({ partner, made }) => void (await partner.sandbox.orderEvent(orderOf(made), { event })),
  };
}

export const vendorAccepts = sandboxEvent('vendor_accepts', 'A vendor accepts the order', {
  from: ['awaiting_liquidity_provider'],
  to: 'awaiting_vendor_escrow_funding',
});

export const escrowFunded = sandboxEvent('escrow_funded', 'The vendor pays its crypto into the escrow', {
  from: ['awaiting_vendor_escrow_funding'],
  to: 'awaiting_fiat_transfer',
});

export const paymentSent: Step = {
  says: 'Confirm that the customer has sent the fiat',
  calls: ['orders.confirmPaymentSent'],
  from: ['awaiting_fiat_transfer'],
  to: 'fiat_transfer_pending',
  run: async ({ partner, made }) => void (await partner.orders.confirmPaymentSent(orderOf(made))),
};

export const vendorConfirms = sandboxEvent(
  'vendor_confirms_fiat',
  'The vendor confirms the fiat, the escrow pays',
  {
    from: ['fiat_transfer_pending'],
    between: ['fiat_received_confirmed', 'crypto_release_pending'],
    to: 'completed',
  },
);

export const sendOut: Step = {
  says: 'Sign a send-out to another network with the wallet of the sandbox',
  calls: ['orders.bridgeParameters', 'orders.authorizeBridge'],
  needs: ['wallet'],
  from: ['completed', 'send_out_failed'],
  to: 'send_out_pending',
  async run(run) {
    const { partner, made } = run;
    const { signBridge } = await import('@causeway/sdk/signing');
    const { file, signer, trust } = await walletOf(run);
    const [settlement, other] = file.chains;
    const destination = {
      destination_chain: other?.slug ?? settlement?.slug ?? '',
      destination_address: BRIDGE_WAITS,
    };
    const order = await partner.orders.get(orderOf(made));
    const parameters = await partner.orders.bridgeParameters(order.order_id, destination);
    const body = await signBridge({ order, parameters, destination, trust }, signer);
    await partner.orders.authorizeBridge(order.order_id, body);
  },
};

export const bridgeSettles = sandboxEvent('bridge_settles', 'The bridge pays on the other network', {
  from: ['send_out_pending'],
  to: 'send_out_completed',
});

export const bridgeFails = sandboxEvent('bridge_fails', 'The bridge gives the crypto back', {
  from: ['send_out_pending'],
  to: 'send_out_failed',
});

export const signDeposit: Step = {
  says: 'Sign the transfer into the escrow with the wallet of the sandbox',
  calls: ['orders.transferParameters', 'orders.funds', 'orders.authorizeTransfer'],
  needs: ['wallet'],
  from: ['awaiting_crypto_transfer_authorization'],
  between: ['crypto_transfer_authorization_pending'],
  to: 'crypto_received',
  async run(run) {
    const { partner, made } = run;
    const { signTransfer } = await import('@causeway/sdk/signing');
    const { signer, trust } = await walletOf(run);
    const order = await partner.orders.get(orderOf(made));
    const parameters = await partner.orders.transferParameters(order.order_id);
    const owners = await ownersOf(partner, order);
    const body = await signTransfer({ order, parameters, owners, trust }, signer);
    await partner.orders.authorizeTransfer(order.order_id, body);
  },
};

export const proofSubmitted = sandboxEvent('buyer_submits_proof', 'The vendor pays and submits its proof', {
  from: ['crypto_received'],
  to: 'fiat_payment_started',
});

export const proofReviewed = sandboxEvent('admin_reviews_proof', 'The operator reviews the proof', {
  from: ['fiat_payment_started'],
  to: 'fiat_payment_review_started',
});

export const proofAccepted = sandboxEvent('proof_accepted', 'The proof is accepted', {
  from: ['fiat_payment_review_started'],
  to: 'awaiting_fiat_received_confirmation',
});

export const fiatReceived: Step = {
  says: 'Confirm that the fiat has arrived; the escrow pays the vendor',
  calls: ['orders.confirmFiatReceived'],
  from: ['awaiting_fiat_received_confirmation'],
  between: ['fiat_received_confirmed', 'crypto_release_pending'],
  to: 'completed',
  run: async ({ partner, made }) => void (await partner.orders.confirmFiatReceived(orderOf(made))),
};

export function cancel(from: readonly string[]): Step {
  return {
    says: 'Cancel the order',
    calls: ['orders.cancel'],
    from,
    to: 'cancelled',
    run: async ({ partner, made }) =>
      void (await partner.orders.cancel(orderOf(made), { reason: 'causeway trigger' })),
  };
}

export function escrowFails(from: readonly string[]): Step {
  return sandboxEvent('escrow_error', 'The escrow cannot be used', { from, to: 'failed' });
}

export function disputeOpened(from: readonly string[]): Step {
  return sandboxEvent('dispute_opened', 'A dispute is opened', { from, to: 'dispute_started' });
}

export const disputeDecidedForYou: Step = {
  says: 'The operator decides the dispute for you',
  calls: ['operator.orders.decideDispute'],
  needs: ['operator'],
  from: ['dispute_started'],
  run: async ({ operator, made }) =>
    void (await operator().operator.orders.decideDispute(orderOf(made), {
      decision: 'for_buyer',
      reason: 'causeway trigger',
    })),
};

export function userOf({ userId }: TriggerRun['made']): string {
  if (userId === undefined) throw new Error('a step before this one makes the customer');
  return userId;
}

function orderOf({ orderId }: TriggerRun['made']): string {
  if (orderId === undefined) throw new Error('a step before this one opens the order');
  return orderId;
}

async function walletOf(run: TriggerRun) {
  const { privateKeySigner, trustOfSandbox } = await import('@causeway/sdk/signing');
  const { file, partner } = await run.sandbox();
  const key = file.partners[partner]?.wallet_private_key ?? '';
  return { file, signer: privateKeySigner(key as `0x${string}`), trust: trustOfSandbox(file, { partner }) };
}

async function ownersOf(partner: TriggerRun['partner'], { order_id }: Order) {
  const { escrow } = await partner.orders.funds(order_id);
  if (escrow === null || escrow === undefined) throw new Error('the order has no escrow yet');
  return escrow.owners;
}
