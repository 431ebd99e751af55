import { formatShortest, type OrderStatus } from '@causeway/protocol';
import { tokenByCode } from '../../chain/chain-settings.ts';
import { localSigner } from '../../chain/signers/keystore-signer.ts';
import { tokenBalance, tokenTransferCall } from '../../chain/token-reads.ts';
import type { Transactor } from '../../chain/transactions/transactor.ts';
import { type Scope, SYSTEM, vendorScope } from '../../db/database.ts';
import type { Outcome } from '../../engine/intent-handler.ts';
import { type UnitDeps, type UnitOfWork, unitOfWork } from '../../engine/unit-of-work.ts';
import type { Currencies } from '../../ports/currencies.ts';
import { depositOf } from '../orders/escrow/escrow.ts';
import {
  actOnOrder,
  decideProof,
  loadOrderForAction,
  type ProofVerdict,
} from '../orders/lifecycle/act-on-order.ts';
import type { OrderRow, PlainDetails } from '../orders/lifecycle/order.ts';
import type { DetailsCheck } from '../payment-details/details-check.ts';
import {
  acceptOrder,
  confirmFiatReceived,
  signRefund,
  submitProof,
  type VendorDeps,
} from '../vendors/serve-order.ts';
import type { SimulatedVendor } from '../vendors/simulated-vendor.ts';
import { sessionOfOrder } from './sandbox.store.ts';

type Place = Pick<OrderRow, 'payment_network_slug' | 'payment_method_slug' | 'order_id'>;

const NAMES: readonly (string | undefined)[] = ['person_name', 'company_name'];

/** Where a simulated vendor takes fiat: what the rail requires, filled as its examples show it. */
export function simulatedDetails(
  { currencies, detailsCheck }: { readonly currencies: Currencies; readonly detailsCheck: DetailsCheck },
  order: Place,
  vendorName: string,
): PlainDetails {
  const { catalogue } = currencies.current().reference;
  const { payment_network_slug: rail, payment_method_slug: institutionId } = order;
  const format = catalogue.detailsFormat(rail, catalogue.institution(institutionId)?.institutionType ?? '');
  const wanted = new Set(format?.requireOneOf.map(([first]) => first));
  const details: Record<string, string> = { reference: order.order_id.slice(-12) };
  for (const { key, required, format: kind, placeholder, options } of format?.fields ?? []) {
    if (!required && !wanted.has(key)) continue;
    details[key] = NAMES.includes(kind) ? vendorName : (placeholder ?? options?.[0]?.code ?? 'sandbox');
  }
  // Some banks' check digits cover the bank itself, which no example of a rail can know.
  const endings = details.account_number === undefined ? [] : [...'0123456789'];
  const variants = endings.map((digit) => ({
    ...details,
    account_number: `${details.account_number?.slice(0, -1)}${digit}`,
  }));
  return [details, ...variants].find((one) => detailsCheck.fit({ rail, institutionId }, one).ok) ?? details;
}

/** What the simulated actors of a sandbox do, through the use cases that real ones have. */
export interface SimulatedActorDeps extends UnitDeps, VendorDeps {
  readonly transactor: Transactor;
  readonly currencies: Currencies;
}

export type Act = (deps: SimulatedActorDeps, order: OrderRow, vendor: SimulatedVendor) => Promise<Outcome>;

const POLL_MS = 300;
export const DONE: Outcome = { kind: 'confirmed' };

type Work = (
  deps: SimulatedActorDeps,
  unit: UnitOfWork,
  order: OrderRow,
  vendor: SimulatedVendor,
) => Promise<unknown>;

/** Something that is decided in the database alone. */
export function inOneUnit(work: Work, scopeOf: (vendor: SimulatedVendor) => Scope = () => SYSTEM): Act {
  return async (deps, order, vendor) => {
    await unitOfWork(deps, scopeOf(vendor), (unit) => work(deps, unit, order, vendor));
    return DONE;
  };
}

/** The same by the vendor, who sees no more than a real one. */
export function byVendor(work: Work): Act {
  return inOneUnit(work, ({ row }) => vendorScope(row.vendor_id));
}

const signWith = ({ privateKey }: SimulatedVendor) => localSigner(privateKey).signDigest;

const accept = byVendor((deps, unit, order, vendor) =>
  acceptOrder(
    deps,
    unit,
    vendor.row,
    order.order_id,
    signWith(vendor),
    order.direction === 'offramp' || order.facts.paymentRequest
      ? undefined
      : simulatedDetails(deps, order, vendor.row.name),
  ),
);

export const prove = byVendor((deps, unit, order, vendor) =>
  submitProof(
    deps,
    unit,
    vendor.row,
    order.order_id,
    { reference: `sandbox-${order.revision}` },
    signWith(vendor),
  ),
);

const startReview = inOneUnit((deps, unit, order) =>
  actOnOrder(unit, deps.orderAdapters, order.order_id, 'proof_review_started', 'operator'),
);

export const judgeProof = (verdict: ProofVerdict) =>
  inOneUnit(async (deps, unit, order) =>
    decideProof(
      unit,
      deps.orderAdapters,
      await loadOrderForAction(unit, order.order_id),
      verdict,
      'operator',
    ),
  );

/** The vendor's key may be in other hands as well, which can use the nonce that was meant for the transfer. */
const MAX_TRANSFERS = 3;

/** One transfer an order and name, however often it is asked for: the transactor knows the effect by its key. */
export function fundEscrowWith(name: string, amountOf: (order: OrderRow) => bigint): Act {
  return async (deps, order, vendor) => {
    const { escrow } = order;
    if (escrow === null) return { kind: 'retry', error: 'the order has no escrow' };
    const { settings, client } = deps.chains.get(order.chain);
    const { address: token, code, decimals } = tokenByCode(settings, order.crypto_currency);
    const { wallet_address: sender } = vendor.row;
    const amount = amountOf(order);
    for (let attempt = 1; attempt <= MAX_TRANSFERS; attempt++) {
      const key = `${name}:${order.order_id}${attempt === 1 ? '' : `:${attempt}`}`;
      const progress = await deps.transactor.advance(key, async () => ({
        chainId: settings.chainId,
        sender,
        call: tokenTransferCall({ token, to: escrow.address, amount }),
      }));
      if (progress.state === 'displaced') continue;
      if (progress.state === 'mined') return { kind: 'confirmed', result: { tx_hash: progress.txHash } };
      if (progress.state !== 'refused') return { kind: 'waiting', afterMs: POLL_MS };
      const balance = await tokenBalance(client, token, sender);
      const error =
        balance < amount
          ? `the vendor’s wallet ${sender} has ${formatShortest(balance, decimals)} ${code} and needs ${formatShortest(amount, decimals)}; POST /api/v1/sandbox/faucet gives it more`
          : progress.reason;
      return { kind: 'retry', error };
    }
    return { kind: 'retry', error: `other transactions of the wallet ${sender} came first` };
  };
}

const fundEscrow = fundEscrowWith('sandbox-funding', depositOf);

const widgetUserPays = inOneUnit((deps, unit, order) =>
  actOnOrder(unit, deps.orderAdapters, order.order_id, 'payment_sent_confirmed', 'customer'),
);

async function isOpenedBySandbox({ db }: SimulatedActorDeps, order: OrderRow): Promise<boolean> {
  if (order.facts.origin !== 'widget') return false;
  const [opened] = await db.query(SYSTEM, sessionOfOrder, [order.order_id]);
  return opened?.session_id === null;
}

const ONRAMP: Partial<Record<OrderStatus, Act>> = {
  awaiting_liquidity_provider: accept,
  awaiting_vendor_escrow_funding: fundEscrow,
  // A person in the widget says so itself, and so does a partner. What the sandbox opened has nobody else who would.
  awaiting_fiat_transfer: async (deps, order, vendor) =>
    (await isOpenedBySandbox(deps, order)) ? widgetUserPays(deps, order, vendor) : DONE,
  fiat_transfer_pending: byVendor((deps, unit, order, vendor) =>
    confirmFiatReceived(deps, unit, vendor.row, order.order_id, signWith(vendor)),
  ),
};

const OFFRAMP: Partial<Record<OrderStatus, Act>> = {
  awaiting_liquidity_provider: accept,
  crypto_received: prove,
  fiat_payment_started: (deps, order, vendor) =>
    order.facts.proofPending ? startReview(deps, order, vendor) : prove(deps, order, vendor),
  fiat_payment_review_started: judgeProof('accepted'),
  awaiting_fiat_received_confirmation: async (deps, order, vendor) =>
    order.facts.settlementNotification ? providerConfirms(deps, order, vendor) : DONE,
};

const providerConfirms = inOneUnit((deps, unit, order) =>
  actOnOrder(unit, deps.orderAdapters, order.order_id, 'fiat_received_confirmed_by_provider', 'provider'),
);

export const ACTS: Readonly<Record<OrderRow['direction'], Partial<Record<OrderStatus, Act>>>> = {
  onramp: ONRAMP,
  offramp: OFFRAMP,
};

/** What a vendor does as soon as it hears of an order, whatever the settings say: it changes nothing anyone sees. */
export const SILENT_ACTS: typeof ACTS = {
  onramp: {},
  offramp: {
    awaiting_crypto_transfer_authorization: byVendor((deps, unit, order, vendor) =>
      signRefund(deps, unit, vendor.row, order.order_id, signWith(vendor)),
    ),
  },
};
