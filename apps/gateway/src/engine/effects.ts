import {
  type EffectKind,
  literals,
  OrderStatusSchema,
  type OrderTrigger,
  Uuid,
  WIDGET_LOCALES,
} from '@causeway/protocol';
import { type Static, type TObject, Type } from 'typebox';
import { Value } from 'typebox/value';

/**
 * The registry of effects: every call that leaves the process is an intent of one of these kinds. Intents are written
 * with the payload that the kind declares, the worker refuses what does not fit when it reads one back, operators read
 * the texts, and docs/reference/effects.md is made from them.
 */
interface EffectEntry {
  readonly does: string;
  readonly payload: TObject;
  /**
   * Whether the same call may be made again when it is not known what became of the last: it is harmless, or the other
   * side knows it by its key. Where not, the handler has a `reconcile` that looks first.
   */
  readonly repeatable: boolean;
  /** What a deployment must have for the kind to be carried out; all have what is not named here. */
  readonly needs?: EffectNeed;
  /** What an operator reads about one that does not get on: what waits for it, and where to look. */
  readonly stuck: string;
  /** Whether an operator may start one anew that failed; else why not and what to do instead. */
  readonly retry: true | string;
  /** How long it may wait for something outside before a person should know; null where nobody has to. */
  readonly waitMinutes?: number | null;
  /** What its order is told when an operator gives it up before it has happened; else why that cannot be. */
  readonly giveUp: readonly OrderTrigger[] | string;
}

/** A simulated bridge, and the simulated actors of a sandbox, are no part of a production deployment. */
export type EffectNeed = 'bank' | 'mail' | 'sandbox' | 'simulated bridge';

const OfOrder = Type.Object({ order_id: Uuid });
const OfDocument = Type.Object({ document_id: Uuid });

const HELD = 'Its order has heard of the failure and is held; release the hold to start it anew.';
const SIGNED = 'What is signed can be executed by anybody until its deadline or until its nonce is used.';
const AT_BANK = 'The bank may have done it; it answers the same to the same key.';
const SIMULATED = 'It is part of a sandbox: open a new order, or report the event through the sandbox API.';

/** Longer than a transaction takes to be final, and longer than what a partner has signed can be executed. */
const DEFAULT_WAIT_MINUTES = 30;
/** A bank is closed for a night or a weekend, and holidays come beside them. */
const BANK_WAIT_MINUTES = 5 * 24 * 60;

const PAYS_OUT = {
  payload: OfOrder,
  repeatable: false,
  stuck:
    'The order’s crypto is still in escrow. Look at the transaction, the gas balance of its sender and the signatures of the order.',
  retry: HELD,
} as const;

export const EFFECTS = {
  'vendor.offer-order': {
    does: 'Finds the next vendor that can serve an order, and offers it the order.',
    payload: OfOrder,
    repeatable: true,
    waitMinutes: null,
    stuck: 'The order has no vendor and expires by itself. Look for open offers of its currency and rail.',
    retry: true,
    giveUp: [],
  },
  'vendor.request-fiat-payment': {
    does: 'Prices a fiat-anchored order once more before the buyer is asked to pay.',
    payload: OfOrder,
    repeatable: true,
    stuck: 'The order waits for a rate of its pair. Look at the sources of rates.',
    retry: true,
    giveUp: 'The buyer would be asked to pay at a price that was not checked.',
  },
  'escrow.deploy-and-watch': {
    does: 'Makes an order’s escrow known to the watcher of its chain.',
    payload: OfOrder,
    repeatable: true,
    stuck: 'Deposits into the escrow are not seen. Look at the nodes of the chain.',
    retry: true,
    giveUp: 'An escrow that is not watched would swallow a deposit.',
  },
  'escrow.release': { ...PAYS_OUT, does: 'Pays an escrow out to the buyer.', giveUp: ['release_failed'] },
  'escrow.refund': {
    ...PAYS_OUT,
    does: 'Pays an escrow back to the partner, which has signed for it.',
    giveUp: ['refund_failed'],
  },
  'escrow.auto-refund': {
    ...PAYS_OUT,
    does: 'Pays an escrow back to the partner with the signature that the buyer gave in advance.',
    giveUp: ['refund_failed'],
  },
  'escrow.return-to-vendor': {
    ...PAYS_OUT,
    does: 'Pays an escrow back to the vendor that funded it.',
    giveUp: ['refund_failed'],
  },
  'escrow.return-deposit': {
    does: 'Pays a deposit that its order cannot use back to its sender.',
    payload: Type.Object({ order_id: Uuid, deposit_id: Uuid }),
    repeatable: false,
    stuck: 'The deposit is still in escrow. Look at the transaction and the gas balance of its sender.',
    retry: 'The deposit says why it was not returned; decide about the deposit again.',
    giveUp: SIGNED,
  },
  'transfer.relay': {
    does: 'Submits the transfer that a partner has signed to fund an escrow.',
    payload: OfOrder,
    repeatable: false,
    stuck:
      'The escrow is not funded yet; the request lapses at its deadline. Look at the nodes and gas balances.',
    retry: HELD,
    giveUp: SIGNED,
  },
  'bridge.relay': {
    does: 'Submits the payment to a bridge that a partner has signed.',
    payload: OfOrder,
    repeatable: false,
    stuck:
      'The bridge is not paid yet; the request lapses at its deadline. Look at the nodes and gas balances.',
    retry: HELD,
    giveUp: SIGNED,
  },
  'bridge.track': {
    does: 'Asks a bridge that was paid what became of the payout.',
    payload: Type.Object({ order_id: Uuid, quote_id: Type.String() }),
    repeatable: true,
    waitMinutes: null,
    stuck:
      'The bridge has the money and has not paid out. Find out from the bridge, then decide the send-out.',
    retry: HELD,
    giveUp: 'The bridge has the money; decide the send-out of the order instead.',
  },
  'bank.submit-client': {
    does: 'Introduces a customer to the bank and waits for its decision.',
    payload: Type.Object({ user_id: Uuid, round: Type.Integer() }),
    repeatable: true,
    waitMinutes: BANK_WAIT_MINUTES,
    needs: 'bank',
    stuck: 'The customer waits for a decision of the bank and gets no account.',
    retry: 'The bank did not take the customer, who is rejected; the partner can introduce it again.',
    giveUp: AT_BANK,
  },
  'bank.open-account': {
    does: 'Opens a customer’s account at the bank and waits until it can be paid into.',
    payload: Type.Object({ seal_id: Uuid }),
    repeatable: true,
    waitMinutes: BANK_WAIT_MINUTES,
    needs: 'bank',
    stuck: 'The customer’s account is still being opened.',
    retry: 'The bank did not open the account, which has failed; it answers the same to the same request.',
    giveUp: AT_BANK,
  },
  'bank.collect': {
    does: 'Moves a payment that matched no order to the partner’s master account.',
    payload: Type.Object({ settlement_id: Uuid }),
    repeatable: true,
    waitMinutes: BANK_WAIT_MINUTES,
    needs: 'bank',
    stuck: 'The payment is on the customer’s account, and the partner has not heard of a settlement.',
    retry:
      'The bank did not collect the payment, which is on the customer’s account as before; match it to an order or leave it there.',
    giveUp: AT_BANK,
  },
  'bank.pay-vendor': {
    does: 'Sends what a customer paid into its account on to the vendor of its order; where that has stopped and the bank did not pay, the customer has it back.',
    payload: OfOrder,
    repeatable: true,
    waitMinutes: BANK_WAIT_MINUTES,
    needs: 'bank',
    stuck:
      'The customer has paid and the vendor has not been. Look at the bank and at the vendor’s payment details.',
    // By its key the bank makes one transfer, however often it is asked for.
    retry: true,
    giveUp: AT_BANK,
  },
  'kyc.verify': {
    does: 'Hands a customer to the KYC provider and looks for the result.',
    payload: Type.Object({ user_id: Uuid }),
    repeatable: true,
    waitMinutes: null,
    stuck: 'The customer’s KYC is not decided. Look at the provider, or decide it by review.',
    retry: true,
    giveUp: [],
  },
  'kyc.store-document': {
    does: 'Moves an encrypted document from the database to the document store.',
    payload: OfDocument,
    repeatable: true,
    stuck: 'The document is safe in the database. Look at the document store.',
    retry: true,
    giveUp: [],
  },
  'kyc.delete-document': {
    does: 'Deletes the document of an erased customer from the document store.',
    payload: OfDocument,
    repeatable: true,
    stuck:
      'A document of an erased customer is still stored, without a key to read it. Look at the document store.',
    retry: true,
    giveUp: 'The customer was promised that it is deleted.',
  },
  'recipient.screen': {
    does: 'Screens a recipient against sanctions lists.',
    payload: Type.Object({ recipient_id: Uuid, round: Type.Integer() }),
    repeatable: true,
    stuck: 'The recipient is pending and cannot be paid. Look at the screening, or decide it by review.',
    retry: true,
    giveUp: [],
  },
  'screening.screen': {
    does: 'Screens an account holder or a wallet.',
    payload: Type.Object({ case_id: Uuid, round: Type.Integer() }),
    repeatable: true,
    stuck: 'Nothing is paid to the account or wallet. Look at the screening, or decide the case by review.',
    retry: true,
    giveUp: 'Nothing would be paid to the account or wallet; decide the screening case instead.',
  },
  'screening.hold-orders': {
    does: 'Holds the funded orders of somebody who is no longer clear.',
    payload: Type.Object({ subject_kind: Type.String(), subject_key: Type.String() }),
    repeatable: true,
    stuck:
      'Orders that pay somebody who is no longer clear are not held yet; hold them by hand if it does not get on.',
    retry: true,
    giveUp: 'Orders of somebody who is not clear must be held.',
  },
  'mail.send-code': {
    does: 'Sends a customer at the widget the code that confirms its e-mail address.',
    payload: Type.Object({ session_id: Uuid }),
    repeatable: true,
    needs: 'mail',
    stuck: 'The customer waits for a code and can ask for another. Look at the mail server.',
    retry: 'The code is over by now; the customer asks for a new one.',
    giveUp: [],
  },
  'mail.send-order': {
    does: 'Tells a customer by e-mail how to come back to an order that it opened at the widget.',
    payload: Type.Object({
      order_id: Uuid,
      user_id: Uuid,
      locale: literals(WIDGET_LOCALES),
      session_id: Uuid,
      page_url: Type.String(),
    }),
    repeatable: true,
    needs: 'mail',
    stuck: 'The order goes on without it. Look at the mail server.',
    retry: true,
    giveUp: [],
  },
  'mail.send-invitation': {
    does: 'Sends somebody the link of an invitation to the console.',
    payload: Type.Object({ invitation_id: Uuid }),
    repeatable: true,
    needs: 'mail',
    stuck: 'The person has no mail; the link was shown to who invited. Look at the mail server.',
    retry: true,
    giveUp: [],
  },
  'sandbox.act': {
    does: 'Lets a simulated vendor or customer act on an order.',
    payload: Type.Object({ order_id: Uuid, status: OrderStatusSchema, asked: Type.Boolean() }),
    repeatable: true,
    needs: 'sandbox',
    stuck: 'A simulated vendor or customer does not act on the order.',
    retry: SIMULATED,
    giveUp: SIMULATED,
  },
  'sandbox.faucet': {
    does: 'Pays tokens or gas out of a sandbox’s faucet.',
    payload: Type.Object({
      chain_id: Type.Integer(),
      token_address: Type.Union([Type.String(), Type.Null()]),
      address: Type.String(),
      amount_atomic: Type.String(),
    }),
    repeatable: false,
    needs: 'sandbox',
    stuck: 'A wallet waits for tokens of the faucet. Look at the chains.',
    retry: 'Ask the faucet again.',
    giveUp: SIGNED,
  },
  'sandbox.solver-payout': {
    does: 'Lets the simulated bridge pay out, or pay back.',
    payload: Type.Object({ quote_id: Type.String() }),
    repeatable: false,
    waitMinutes: null,
    needs: 'simulated bridge',
    stuck: 'The simulated bridge was paid and has not paid out.',
    retry: SIMULATED,
    giveUp: SIMULATED,
  },
} as const satisfies Readonly<Record<EffectKind, EffectEntry> & Record<string, EffectEntry>>;

export type IntentKind = keyof typeof EFFECTS;
export type IntentPayload<K extends IntentKind> = Static<(typeof EFFECTS)[K]['payload']>;
export const INTENT_KINDS = Object.keys(EFFECTS) as readonly IntentKind[];

/** Undefined for a kind that this version does not know: a newer or an older one wrote it. */
export function effectOf(kind: string): EffectEntry | undefined {
  return Object.hasOwn(EFFECTS, kind) ? EFFECTS[kind as IntentKind] : undefined;
}

export function longestWaitMinutes(kind: IntentKind): number {
  const { waitMinutes = DEFAULT_WAIT_MINUTES } = effectOf(kind) ?? {};
  return waitMinutes ?? Number.POSITIVE_INFINITY;
}

/** Where a stored payload does not fit its kind, without its values; undefined where it fits. */
export function payloadProblem(kind: IntentKind, payload: unknown): string | undefined {
  const schema = EFFECTS[kind].payload;
  if (Value.Check(schema, payload)) return undefined;
  const paths = Value.Errors(schema, payload).map(({ instancePath }) => instancePath || '/');
  return `the payload does not fit ${kind}: ${[...new Set(paths)].join(', ')}`;
}
