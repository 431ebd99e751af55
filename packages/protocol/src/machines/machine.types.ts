import type { FailureCode, HoldReason } from '../failures/index.ts';

/**
 * The shape shared by every state machine. A machine is a table: what may happen in which status, who may cause
 * it, under which conditions, and everything that follows. The executor locks the row, asks `decide`,
 * and writes what the transition says; it holds no rule of its own.
 */

/** Who or what reports a trigger. */
export const ACTORS = [
  'partner',
  'customer',
  'vendor',
  'provider',
  'operator',
  'bank',
  'chain',
  'clock',
  'system',
  'simulator',
] as const;
export type Actor = (typeof ACTORS)[number];

export const EVENT_TYPES = [
  'order.status.changed',
  'order.refund.required',
  'order.release.required',
  'user.kyc.updated',
  'retail.settlement.completed',
] as const;
/** Events a transition can publish. Deposits and webhook tests have events of their own, outside any machine. */
export type MachineEventType = (typeof EVENT_TYPES)[number];

/** Durable intents a transition starts; at most one of a kind is open for one subject at a time. */
export const EFFECT_KINDS = [
  'vendor.offer-order',
  'vendor.request-fiat-payment',
  'escrow.deploy-and-watch',
  'escrow.release',
  'escrow.refund',
  'escrow.auto-refund',
  'escrow.return-to-vendor',
  'escrow.return-deposit',
  'transfer.relay',
  'bridge.relay',
  'bank.pay-vendor',
  'bank.submit-client',
  'bank.open-account',
  'bank.collect',
  'kyc.verify',
  'recipient.screen',
  'screening.screen',
  'screening.hold-orders',
] as const;
export type EffectKind = (typeof EFFECT_KINDS)[number];

/** Which movement of money a transition records in the ledger; absent where no money has moved. */
export const POSTING_KINDS = [
  'vendor_escrow_funded',
  'partner_escrow_funded',
  'customer_deposit_applied',
  'escrow_released',
  'escrow_refunded',
  'escrow_returned_to_vendor',
  'escrow_settled_elsewhere',
  'send_out_settled',
  'deposit_held',
  'deposit_accepted',
  'deposit_returned',
  'fiat_deposit_received',
  'fiat_deposit_collected',
  'customer_deposit_returned',
] as const;
export type PostingKind = (typeof POSTING_KINDS)[number];

/** The partner's action endpoints, spelled as the contract spells them. */
export const PARTNER_ACTIONS = [
  'submit-payer-details',
  'confirm-payment-sent',
  'authorize-crypto-transfer',
  'confirm-fiat-received',
  'authorize-bridge',
  'authorize-refund',
  'authorize-release',
  'cancel',
] as const;
export type PartnerAction = (typeof PARTNER_ACTIONS)[number];

export const NEXT_ACTIONS = [
  'submit_payer_details',
  'confirm_payment_sent',
  'authorize_crypto_transfer',
  'confirm_fiat_received',
  'authorize_refund',
  'authorize_release',
  'deposit_to_user_account',
  'wait',
  'none',
] as const;
/** `wait`: others must act first. `none`: the order has ended and asks nothing more. */
export type NextAction = (typeof NEXT_ACTIONS)[number];

export type RefusalCode =
  | 'INVALID_STATUS'
  | 'OPERATION_NOT_ALLOWED'
  | 'SEND_OUT_IN_PROGRESS'
  | 'ORDER_NOT_FOUND'
  | 'KYC_NOT_CLEARED'
  | 'RECIPIENT_NOT_CLEARED'
  | 'WALLET_NOT_CLEARED'
  | 'QUOTE_EXPIRED'
  | 'QUOTE_ALREADY_USED';

/** The pseudo-status of a subject that does not exist yet; no row ever carries it. */
export const NEW = '(new)';
export type New = typeof NEW;

export interface Transition<S extends string, T extends string, F, G extends string> {
  readonly from: S | New | readonly S[];
  readonly on: T;
  readonly by: readonly Actor[];
  /** All must hold. The first that fails names the error; conditions shared by sibling rows come first. */
  readonly guard?: readonly G[];
  readonly to: S;
  readonly emits: readonly MachineEventType[];
  readonly effects?: readonly EffectKind[];
  readonly posts?: PostingKind;
  /** The endpoint that reports this trigger; it makes the row part of `allowed_actions`. */
  readonly action?: PartnerAction;
  /** Why the subject ends without a trade; on a row that ends an order so, and on no other. */
  readonly failure?: FailureCode;
  /** Why the subject is held from here on; a hold that stands keeps its own reason. */
  readonly hold?: HoldReason;
  /** What becomes true with the transition. */
  readonly sets?: Partial<F>;
  /** A counter of the facts that the transition raises by one. */
  readonly counts?: KeysOfType<F, number>;
  /** Tried at once by `system`, in the same database transaction; a refusal leaves the subject where it is. */
  readonly follow?: T;
  /** The trigger repeats what is already known: answer success, write nothing. */
  readonly noop?: true;
  /** Where the rule comes from (docs/reference/contract.md), and why where that is silent. */
  readonly spec: string;
}

type KeysOfType<F, V> = { [K in keyof F]-?: F[K] extends V ? K : never }[keyof F];

export interface GuardSpec<F, T extends string> {
  readonly code: RefusalCode;
  readonly says: string;
  /** The facts it looks at, so that tests and docs need not guess. */
  readonly reads: readonly (keyof F)[];
  readonly holds: (facts: F) => boolean;
  /** What the executor must report, as `system`, when this guard refuses. */
  readonly onRefusal?: T;
}

/** Time-outs that a deployment configures. A setting without a value in the configuration is a type error. */
export const TIMEOUT_SETTINGS = [
  'no_vendor_seconds',
  'no_escrow_funding_seconds',
  'no_fiat_seconds',
  'no_authorization_seconds',
] as const;
export type TimeoutSetting = (typeof TIMEOUT_SETTINGS)[number];

export interface Timeout<T extends string> {
  /** Absent where the time-out is fixed. */
  readonly setting?: TimeoutSetting;
  /** What applies where it is fixed, and what the setting says unless it is changed. */
  readonly defaultSeconds: number;
  readonly trigger: T;
}

/** What a status asks of the partner: the first step that applies is `next_action`. */
export interface NextStep<G extends string> {
  readonly step: NextAction;
  /** Set where the step is a partner action: it applies only while that action is allowed. */
  readonly action?: PartnerAction;
  readonly when?: readonly G[];
}

/** `settled`: both sides have what they traded for. `disputed`: an operator decides whose the money is. */
export type TradeOutcome = 'settled' | 'stopped' | 'disputed';

export interface StatusSpec<T extends string, G extends string> {
  readonly says: string;
  /** Carried by webhooks. The others are mid-flight: visible in REST only. */
  readonly published: boolean;
  /** Not in the contract's table of this machine: a value of our own, which its clients must tolerate (C9). */
  readonly additive?: true;
  /** Nothing more happens by itself; a partner or an operator may still act. */
  readonly terminal: boolean;
  /** What has become of the trade, where that is known. */
  readonly outcome?: TradeOutcome;
  /** The vendor has a promise to keep: a cancellation from here that nobody asked for is its failure. */
  readonly vendorOwes?: true;
  /** From here on the end user is told where to pay. */
  readonly revealsPaymentDetails?: true;
  readonly next?: readonly NextStep<G>[];
  readonly timeout?: Timeout<T>;
}

/** A (status, trigger) pair outside the table whose refusal has a better name than INVALID_STATUS. */
export interface NamedRefusal<S extends string, T extends string> {
  readonly from: S;
  readonly on: T;
  readonly code: RefusalCode;
}

export interface MachineDefinition<S extends string, T extends string, F, G extends string> {
  readonly name: string;
  readonly title: string;
  readonly statuses: { readonly [K in S]: StatusSpec<T, G> };
  readonly guards: { readonly [K in G]: GuardSpec<F, T> };
  readonly transitions: readonly Transition<S, T, F, G>[];
  /** Checked before the status is looked at: they decide which answer wins where several are true. */
  readonly before?: {
    readonly actor?: { readonly [A in Actor]?: readonly G[] };
    readonly trigger?: { readonly [K in T]?: readonly G[] };
  };
  readonly refusals?: readonly NamedRefusal<S, T>[];
}

export interface Machine<S extends string, T extends string, F, G extends string> {
  readonly name: string;
  readonly title: string;
  readonly statusNames: readonly S[];
  readonly statuses: { readonly [K in S]?: StatusSpec<T, G> };
  readonly guards: { readonly [K in G]: GuardSpec<F, T> };
  readonly transitions: readonly Transition<S, T, F, G>[];
  readonly before: NonNullable<MachineDefinition<S, T, F, G>['before']>;
  readonly refusals: readonly NamedRefusal<S, T>[];
  /** status → trigger → rows in the table's order. */
  readonly index: ReadonlyMap<string, ReadonlyMap<string, readonly Transition<S, T, F, G>[]>>;
}

export type Decision<S extends string, T extends string, F, G extends string> =
  | { readonly kind: 'moved'; readonly transition: Transition<S, T, F, G> }
  | {
      readonly kind: 'refused';
      readonly code: RefusalCode;
      readonly reason: 'no_transition' | 'actor' | 'guard';
      readonly guard?: G;
      /** To be reported next, as `system`: the refusal itself calls for it (a lost KYC sends to review). */
      readonly follow?: T;
    };
