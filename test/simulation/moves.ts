import type { Actor, OrderTrigger } from '@causeway/protocol';
import { partnerScope, SYSTEM, vendorScope } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { type UnitOfWork, unitOfWork } from '../../apps/gateway/src/engine/unit-of-work.ts';
import {
  decideDeposit,
  lookAtDeposit,
} from '../../apps/gateway/src/features/orders/deposits/decide-deposit.ts';
import {
  depositReturnParameters,
  lookBeforeSigning,
  signDepositReturn,
} from '../../apps/gateway/src/features/orders/deposits/return-deposit.ts';
import {
  authorizePayout,
  payoutAuthorizationParameters,
} from '../../apps/gateway/src/features/orders/escrow/authorize.ts';
import {
  actOnOrder,
  decideProof,
  loadOrderForAction,
} from '../../apps/gateway/src/features/orders/lifecycle/act-on-order.ts';
import { openOfframp, openOnramp } from '../../apps/gateway/src/features/orders/lifecycle/initiate-order.ts';
import { withQuoteClaim } from '../../apps/gateway/src/features/quotes/claim-quote.ts';
import { issueOfframpQuote, issueOnrampQuote } from '../../apps/gateway/src/features/quotes/issue-quote.ts';
import {
  acceptOrder,
  callingVendor,
  confirmFiatReceived,
  declineOrder,
  signRefund,
  signRelease,
  submitProof,
} from '../../apps/gateway/src/features/vendors/serve-order.ts';
import type { Dice, Weighted } from './scheduler.ts';
import { CHAIN, PARTIES } from './template.ts';
import type { Quote, SeenOrder, World } from './world.ts';

/** Something that a party may do next. */
export interface Move extends Weighted {
  /** Whose next call goes through; absent where none does. */
  readonly process?: string;
  run(dice: Dice): void;
}

const MOST_ORDERS = 4;
const MOST_QUOTES = 6;
const TOKEN = CHAIN.tokens[0]?.address as `0x${string}`;

/** What partner, customer, vendors and operator would try, whether or not the tables let them. */
export function partyMoves(world: World): Move[] {
  const { quotes, seen } = world;
  const isFull = seen.orders.length >= MOST_ORDERS || world.quotesAsked >= MOST_QUOTES;
  const moves: Move[] = [
    ...(['onramp', 'offramp'] as const).map((direction) => ({
      key: `partner asks for an ${direction} quote`,
      weight: isFull ? 0 : 6,
      run: (dice: Dice) => quote(world, direction, dice),
    })),
    ...quotes
      .filter(({ attempts }) => attempts < 2)
      .map((one, n) => ({
        key: `partner initiates quote ${n}`,
        weight: one.attempts === 0 ? 12 : 0.3,
        run: () => initiate(world, one),
      })),
    { key: 'KYC changes', weight: seen.orders.length > 0 ? 0.3 : 0, run: () => changeKyc(world) },
  ];
  for (const [n, order] of seen.orders.entries()) moves.push(...orderMoves(world, order, n));
  return moves;
}

function quote(world: World, direction: Quote['direction'], dice: Dice): void {
  const { api, ground } = world;
  const partner = {
    partnerId: ground.partnerId,
    partner: { settlementChain: CHAIN.slug, platformFeePct: '0.5' } as never,
  };
  const request = {
    user_uuid: ground.userId,
    crypto_currency: 'USDC',
    fiat_currency: 'EUR',
    ...(dice.chance('anchor', 50) ? { fiat_amount: '90.00' } : { crypto_amount: '100' }),
    partner_fee_pct: '1',
    provider_scope: 'p2p',
  };
  const run = {
    ids: api.ids,
    at: api.clock.date(),
    query: (declared: never, params: never) => api.db.query(partnerScope(ground.partnerId), declared, params),
  };
  world.quotesAsked += 1;
  const work = async () => {
    const issued =
      direction === 'onramp'
        ? await issueOnrampQuote(api, run as never, partner, request as never)
        : await issueOfframpQuote(api as never, run as never, partner, {
            ...request,
            payment_details_id: ground.paymentDetailsId,
          } as never);
    world.quotes.push({ quoteId: issued.quote_id, direction, attempts: 0 });
  };
  world.begin(`quote ${direction}`, work());
}

function initiate(world: World, one: Quote): void {
  const { api, ground } = world;
  one.attempts += 1;
  const { quoteId, direction } = one;
  const open = direction === 'onramp' ? openOnramp : openOfframp;
  const claiming = withQuoteClaim(api, { partnerId: ground.partnerId, quoteId, direction }, (claim) =>
    unitOfWork(api, partnerScope(ground.partnerId), (unit) => open(api, unit, claim, { quote_id: quoteId })),
  );
  world.begin(`initiate ${direction}`, claiming);
}

const setKyc = statement<[status: string]>('simulation.set_kyc', 'UPDATE users SET kyc_status = $1');

function changeKyc(world: World): void {
  const status = world.seen.is_cleared ? 'UNDER_REVIEW' : 'VERIFIED';
  world.begin(`KYC is ${status}`, world.api.db.query(SYSTEM, setKyc, [status]));
}

function orderMoves(world: World, order: SeenOrder, n: number): Move[] {
  const { api, ground, bank, chain } = world;
  const id = order.order_id;
  const move = (what: string, weight: number, run: (dice: Dice) => void): Move => ({
    key: `${what} of order ${n}`,
    weight,
    run,
  });
  const unit = (
    what: string,
    weight: number,
    scope: Parameters<typeof unitOfWork>[1],
    work: (unit: UnitOfWork) => Promise<unknown>,
  ) => move(what, weight, () => world.begin(`${what} ${n}`, unitOfWork(api, scope, work)));
  const report = (what: string, weight: number, trigger: OrderTrigger, actor: Actor) =>
    unit(what, weight, actor === 'partner' ? partnerScope(ground.partnerId) : SYSTEM, (given) =>
      actOnOrder(given, api.orderAdapters, id, trigger, actor),
    );
  const is = (...statuses: readonly string[]) => statuses.includes(order.status);
  const seller = order.escrow?.seller;
  const isOnramp = order.direction === 'onramp';
  const deposit = isOnramp
    ? BigInt(order.crypto_amount)
    : BigInt(order.crypto_amount) + BigInt(order.partner_fee);
  const isAwaited = is('awaiting_vendor_escrow_funding', 'awaiting_crypto_transfer_authorization');
  const pay = (what: string, weight: number, from: `0x${string}` | undefined, amount: bigint) =>
    move(what, from === undefined || order.escrow === null ? 0 : weight, () => {
      world.trace.push(`${what} ${n}`);
      chain.pay(TOKEN, from as `0x${string}`, order.escrow?.address as `0x${string}`, amount);
    });
  return [
    report('cancel', 0.5, 'cancelled_by_partner', 'partner'),
    report('payment sent', is('awaiting_fiat_transfer') ? 8 : 0.1, 'payment_sent_confirmed', 'partner'),
    report(
      'fiat received',
      is('awaiting_fiat_received_confirmation') ? 8 : 0.1,
      'fiat_received_confirmed_by_partner',
      'partner',
    ),
    report('hold', 0.2, 'hold_placed', 'operator'),
    report('hold release', order.facts.held ? 6 : 0.05, 'hold_released', 'operator'),
    report(
      'dispute',
      is('fiat_transfer_pending', 'crypto_received', 'fiat_payment_started') ? 1.5 : 0.05,
      'dispute_opened',
      'operator',
    ),
    report('dispute for buyer', is('dispute_started') ? 2 : 0, 'dispute_resolved_to_buyer', 'operator'),
    report('dispute for seller', is('dispute_started') ? 2 : 0, 'dispute_resolved_to_seller', 'operator'),
    report('proof review', is('fiat_payment_started') ? 8 : 0.05, 'proof_review_started', 'operator'),
    ...(['accepted', 'rejected'] as const).map((verdict) =>
      unit(
        `proof ${verdict}`,
        is('fiat_payment_review_started') ? (verdict === 'accepted' ? 6 : 2) : 0,
        SYSTEM,
        async (given) =>
          decideProof(given, api.orderAdapters, await loadOrderForAction(given, id), verdict, 'operator'),
      ),
    ),
    pay('exact deposit', isAwaited ? 8 : 0.1, seller, deposit),
    pay('short deposit', isAwaited ? 0.4 : 0.05, seller, deposit - 1n),
    pay('excess deposit', isAwaited ? 0.3 : 0, seller, deposit + 5n),
    pay('foreign deposit', 0.2, PARTIES.thirdParty.address, deposit),
    move(
      'fiat transfer',
      is('awaiting_fiat_transfer', 'fiat_transfer_pending', 'crypto_received') && !bank.wasSent(id) ? 5 : 0,
      () => bank.send(id),
    ),
    ...payoutMoves(world, order, n),
    ...vendorMoves(world, order, n),
    ...depositMoves(world, order, n),
  ];
}

/** A partner signs for its refund, or to be paid after a dispute that it has won. */
function payoutMoves(world: World, order: SeenOrder, n: number): Move[] {
  const { api, ground } = world;
  const scope = partnerScope(ground.partnerId);
  const caller = { actor: 'partner', scope } as const;
  return (['refund', 'release'] as const).map((purpose) => ({
    key: `partner signs the ${purpose} of order ${n}`,
    weight:
      ['cancelled', 'failed', 'dispute_started'].includes(order.status) && order.facts.escrow === 'funded'
        ? 6
        : 0,
    run: () => {
      const work = async () => {
        const asked = await payoutAuthorizationParameters(api, caller, order.order_id, purpose);
        const signature = await PARTIES.partner.signDigest(asked.safe_tx_hash as `0x${string}`);
        const owners = [purpose === 'refund' ? 'seller' : 'buyer'] as const;
        await unitOfWork(api, scope, (unit) =>
          authorizePayout(api, unit, order.order_id, { purpose, actor: 'partner', owners, signature }),
        );
      };
      world.begin(`partner signs ${purpose} ${n}`, work());
    },
  }));
}

function vendorMoves(world: World, order: SeenOrder, n: number): Move[] {
  const { api, ground, bank } = world;
  const { vendor_id: vendorId, order_id: id, status } = order;
  const signer = PARTIES.vendors[ground.vendorIds.indexOf(vendorId ?? '')];
  if (vendorId === null || signer === undefined) return [];
  const sign = (hash: `0x${string}`) => signer.signDigest(hash);
  const details = { full_name: 'Vendor', iban: 'DE89370400440532013000' };
  const act = (
    what: string,
    weight: number,
    work: (unit: UnitOfWork, vendor: Awaited<ReturnType<typeof callingVendor>>) => Promise<unknown>,
  ): Move => ({
    key: `vendor: ${what} of order ${n}`,
    weight,
    run: () =>
      world.begin(
        `vendor: ${what} ${n}`,
        unitOfWork(api, vendorScope(vendorId), async (unit) =>
          work(unit, await callingVendor(unit, { vendorId } as never)),
        ),
      ),
  });
  const isOffered = status === 'awaiting_liquidity_provider';
  const hasPaid = bank.hasArrived(id);
  return [
    act('accept', isOffered ? 10 : 0.05, (unit, vendor) => acceptOrder(api, unit, vendor, id, sign, details)),
    act('decline', isOffered ? 0.7 : 0, (unit) => declineOrder(api, unit, id)),
    act('sign refund', order.direction === 'offramp' ? 2 : 0.05, (unit, vendor) =>
      signRefund(api, unit, vendor, id, sign),
    ),
    act('confirm fiat', status === 'fiat_transfer_pending' ? (hasPaid ? 8 : 0.3) : 0.05, (unit, vendor) =>
      confirmFiatReceived(api, unit, vendor, id, sign),
    ),
    act('sign release', status === 'dispute_started' ? 2 : 0.05, (unit, vendor) =>
      signRelease(api, unit, vendor, id, sign),
    ),
    act(
      'proof',
      status === 'crypto_received' || status === 'fiat_payment_started' ? 6 : 0.05,
      (unit, vendor) => submitProof(api, unit, vendor, id, { reference: 'paid' }, sign),
    ),
  ];
}

/** What was paid and is not the deposit: the operator decides, and an owner of the escrow signs its return. */
function depositMoves(world: World, order: SeenOrder, n: number): Move[] {
  const { api, ground } = world;
  const scope = partnerScope(ground.partnerId);
  const returnSigner = { actor: 'partner', scope, owners: 'partner' } as const;
  return order.deposits.flatMap(({ id, disposition }, m): Move[] => {
    const decide = (decision: 'return' | 'accept', weight: number): Move => ({
      key: `operator decides to ${decision} deposit ${m} of order ${n}`,
      weight,
      run: () => {
        const work = async () => {
          const sight = await lookAtDeposit(api, id, decision, undefined);
          await unitOfWork(api, SYSTEM, (unit) => decideDeposit(api, unit, id, { decision }, sight));
        };
        world.begin(`${decision} deposit ${n}.${m}`, work());
      },
    });
    const sign: Move = {
      key: `partner signs the return of deposit ${m} of order ${n}`,
      weight: 4,
      run: () => {
        const work = async () => {
          const asked = await depositReturnParameters(api, returnSigner, id);
          const signature = await PARTIES.partner.signDigest(asked.safe_tx_hash as `0x${string}`);
          const sight = await lookBeforeSigning(api, returnSigner, id);
          await unitOfWork(api, scope, (unit) =>
            signDepositReturn(api, unit, returnSigner, id, signature, sight),
          );
        };
        world.begin(`sign return ${n}.${m}`, work());
      },
    };
    if (disposition === 'held_for_review') return [decide('return', 2), decide('accept', 2)];
    return disposition === 'return_pending' ? [sign] : [];
  });
}
