import { ROLE_MEANINGS } from '../console/access.ts';
import { DIFFERENCE_MEANINGS } from '../console/differences.ts';
import { QUEUE_TITLES } from '../console/queue.ts';
import { kycNotClearedDetails } from '../errors/details.ts';
import { ERROR_CATALOGUE, ERROR_KEY_CATALOGUE } from '../errors/index.ts';
import { HOLD_REASONS, ORDER_FAILURES } from '../failures/index.ts';
import {
  approvalStatuses,
  authorizationMachine,
  chainTransactionStatuses,
  deliveryStatuses,
  depositMachine,
  fiatAccountMachine,
  fiatClientMachine,
  fiatPaymentMachine,
  intentStatuses,
  kycMachine,
  ORDER_MACHINES,
  ORDER_STATUSES,
  type OrderStatus,
  PUBLISHED_ORDER_STATUSES,
  recipientMachine,
  screeningMachine,
} from '../machines/index.ts';
import {
  KYC_UPDATED_STATUSES,
  OPEN_SCREENING_STATUSES,
  PARTNER_EVENTS,
  VENDOR_EVENTS,
} from '../wire/index.ts';
import { ORDER_WORDS } from './order-words.ts';
import { type NamedEnum, WORD_MEANINGS } from './word-meanings.ts';

type Described = Readonly<Record<string, { readonly says: string }>>;

const saysOf = (statuses: Described) =>
  Object.fromEntries(Object.entries(statuses).map(([status, { says }]) => [status, says]));

/** What the two tables say; where they differ, each for its direction. */
function orderStatusMeaning(status: OrderStatus): string {
  const [onramp, offramp] = [ORDER_MACHINES.onramp, ORDER_MACHINES.offramp].map(
    (machine) => (machine.statuses as Partial<Described>)[status]?.says,
  );
  if (onramp === undefined || offramp === undefined || onramp === offramp) return onramp ?? offramp ?? '';
  return `On-ramp: ${onramp} Off-ramp: ${offramp}`;
}

const orderStatuses = (statuses: readonly OrderStatus[]) =>
  Object.fromEntries(statuses.map((status) => [status, orderStatusMeaning(status)]));

const only = (meanings: Readonly<Record<string, string>>, words: readonly string[]) =>
  Object.fromEntries(words.map((word) => [word, meanings[word] ?? '']));

const whenOf = (events: Readonly<Record<string, { readonly when: string }>>) =>
  Object.fromEntries(Object.entries(events).map(([type, { when }]) => [type, when]));

const docOf = (entries: Readonly<Record<string, { readonly doc: string }>>) =>
  Object.fromEntries(Object.entries(entries).map(([code, { doc }]) => [code, doc]));

const kycStatuses = saysOf(kycMachine.statuses);
/** As KYC_NOT_CLEARED names them. */
const UNCLEARED = kycNotClearedDetails.properties.kyc_status.anyOf.map((status) => status.const);
const screeningStatuses = saysOf(screeningMachine.statuses);

/** Taken from the tables and catalogues where these say what a word means, so that no meaning is written twice. */
export const NAMED_ENUMS: readonly NamedEnum[] = [
  { name: 'OrderStatus', meanings: orderStatuses(ORDER_STATUSES) },
  { name: 'PublishedOrderStatus', meanings: orderStatuses(PUBLISHED_ORDER_STATUSES) },
  { name: 'KycStatus', meanings: kycStatuses },
  { name: 'PublishedKycStatus', meanings: only(kycStatuses, KYC_UPDATED_STATUSES) },
  { name: 'UnclearedKycStatus', meanings: only(kycStatuses, UNCLEARED) },
  { name: 'ScreeningStatus', meanings: screeningStatuses },
  { name: 'OpenScreeningStatus', meanings: only(screeningStatuses, OPEN_SCREENING_STATUSES) },
  { name: 'RecipientStatus', meanings: saysOf(recipientMachine.statuses) },
  { name: 'DepositStatus', meanings: saysOf(depositMachine.statuses) },
  { name: 'FiatAccountStatus', meanings: saysOf(fiatAccountMachine.statuses) },
  { name: 'FiatPaymentStatus', meanings: saysOf(fiatPaymentMachine.statuses) },
  {
    name: 'IdentificationStatus',
    meanings: { not_submitted: 'Nothing was submitted yet.', ...saysOf(fiatClientMachine.statuses) },
  },
  { name: 'AuthorizationStatus', meanings: saysOf(authorizationMachine.statuses) },
  { name: 'DeliveryStatus', meanings: deliveryStatuses.statuses },
  { name: 'ApprovalStatus', meanings: approvalStatuses.statuses },
  { name: 'EffectStatus', meanings: intentStatuses.statuses },
  { name: 'ChainTransactionStatus', meanings: chainTransactionStatuses.statuses },
  { name: 'PartnerEventType', meanings: whenOf(PARTNER_EVENTS) },
  {
    name: 'WebhookEventFilter',
    meanings: only({ '*': 'All, those of later releases included', ...whenOf(PARTNER_EVENTS) }, [
      '*',
      ...Object.keys(PARTNER_EVENTS).filter((type) => type !== 'webhook.test'),
    ]),
  },
  { name: 'VendorEventType', meanings: whenOf(VENDOR_EVENTS) },
  { name: 'ErrorCode', meanings: docOf(ERROR_CATALOGUE) },
  { name: 'FailureCode', meanings: whenOf(ORDER_FAILURES) },
  { name: 'HoldReason', meanings: whenOf(HOLD_REASONS) },
  { name: 'SupportedErrorKey', meanings: docOf(ERROR_KEY_CATALOGUE) },
  {
    name: 'ConsoleDesk',
    meanings: {
      partner: 'Of a partner: its orders, customers, webhooks and keys',
      operator: 'Of the operator: everything in the deployment',
      vendor: 'Of a vendor: its offers and orders',
    },
  },
  { name: 'ConsoleRole', meanings: ROLE_MEANINGS },
  { name: 'QueueKind', meanings: QUEUE_TITLES },
  { name: 'DifferenceKind', meanings: DIFFERENCE_MEANINGS },
  {
    name: 'StatisticsInterval',
    meanings: { day: 'A row a day', week: 'A row a week, from Monday on', month: 'A row a month' },
  },
  {
    name: 'HotWalletState',
    meanings: {
      ok: 'It can pay for what is on its way',
      low: 'It should be filled up',
      unknown: 'The node did not answer; the last value known is shown',
    },
  },
  {
    name: 'KycDocumentState',
    meanings: {
      received: 'Uploaded, and not yet with the provider',
      stored: 'With the provider',
      replaced: 'A later upload took its place',
    },
  },
  ...ORDER_WORDS,
  ...WORD_MEANINGS,
];
