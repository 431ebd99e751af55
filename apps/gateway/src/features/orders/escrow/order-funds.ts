import {
  DEPOSIT_ACCEPTED,
  DEPOSIT_CREDITED,
  DEPOSIT_DISMISSED,
  formatFixed,
  type OrderFundsSchema,
  type PostingKind,
} from '@causeway/protocol';
import { ORDER_MACHINES } from '@causeway/protocol/machines';
import type { Static } from 'typebox';
import { type Address, type ChainSettings, tokenByCode } from '../../../chain/chain-settings.ts';
import type { Chains, ConnectedChain } from '../../../chain/chains.ts';
import { tokenBalance } from '../../../chain/token-reads.ts';
import type { Database, Scope } from '../../../db/database.ts';
import { heldAccount, tokenOf } from '../deposits/deposit.adapter.ts';
import { type DepositView, depositView, humanAmount } from '../deposits/deposit.view.ts';
import { waitingFor, whoCanMove } from '../lifecycle/order.adapter.ts';
import { type MovementRow, movementsOfOrder } from '../lifecycle/order.store.ts';
import { type OrderRow, shownDeadline } from '../lifecycle/order.ts';
import { assetOf } from '../lifecycle/postings.ts';
import { type DepositRow, depositsOfOrder } from './escrow.store.ts';
import { depositOf } from './escrow.ts';

export interface FundsDeps {
  readonly db: Database;
  readonly chains: Chains;
}

export type OrderFunds = Static<typeof OrderFundsSchema>;

const WHERE: Readonly<Record<OrderRow['facts']['escrow'], string>> = {
  none: 'Nothing has been paid into the escrow.',
  funded: 'The crypto is in the escrow.',
  releasing: 'The crypto is on its way from the escrow to the buyer.',
  refunding: 'The crypto is on its way from the escrow back to the seller.',
  emptied: 'The escrow has been paid out.',
};

const TAKEN_BY_OWNERS = 'Two owners of the escrow have moved the crypto themselves.';

const wasTakenByOwners = (movements: readonly MovementRow[]) =>
  movements.some(({ kind }) => kind === ('escrow_settled_elsewhere' satisfies PostingKind));

/** Where an order's money is, from the books and from the chain. */
export async function readOrderFunds(
  { db, chains }: FundsDeps,
  scope: Scope,
  order: OrderRow,
): Promise<OrderFunds> {
  const [movements, deposits] = await Promise.all([
    db.query(scope, movementsOfOrder, [order.order_id]),
    db.query(scope, depositsOfOrder, [order.order_id]),
  ]);
  const chain = chains.get(order.chain);
  return fundsView(chain.settings, order, movements, deposits, await balancesOf(chain, order, deposits));
}

interface Balance {
  /** Null for the chain's own coin. */
  readonly token: Address | null;
  readonly amount: bigint;
}

/** As many foreign tokens as are looked up for one answer. */
const FOREIGN_TOKENS = 5;

/** Null where no node answers: the books are still worth reading then. */
async function balancesOf(
  { client, settings }: ConnectedChain,
  order: OrderRow,
  deposits: readonly DepositRow[],
): Promise<readonly Balance[] | null> {
  if (order.escrow === null) return null;
  const { address } = order.escrow;
  const foreign = new Set(
    deposits
      .filter(
        ({ token, disposition }) =>
          tokenOf(settings, token) === undefined && disposition !== DEPOSIT_DISMISSED,
      )
      .map(({ token }) => token),
  );
  const known = settings.tokens.map(({ address: token }) => tokenBalance(client, token, address));
  // A third party's contract may answer anything or nothing.
  const others = [...foreign].slice(0, FOREIGN_TOKENS);
  const unknown = others.map((token) => tokenBalance(client, token, address).catch(() => 0n));
  try {
    const [coin, ...amounts] = await Promise.all([client.getBalance({ address }), ...known, ...unknown]);
    const tokens = [...settings.tokens.map(({ address: token }) => token), ...others];
    const ofTokens = tokens.map((token, position) => ({ token, amount: amounts[position] ?? 0n }));
    return [...ofTokens, { token: null, amount: coin }];
  } catch {
    return null;
  }
}

function fundsView(
  settings: ChainSettings,
  order: OrderRow,
  movements: readonly MovementRow[],
  deposits: readonly DepositRow[],
  balances: readonly Balance[] | null,
): OrderFunds {
  const next = waitingFor(order);
  const human = (amount: bigint) => formatFixed(amount, order.crypto_decimals);
  const booked = (account: string) =>
    movements
      .filter((posting) => posting.account === account && posting.asset === assetOf(order))
      .reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  const own = tokenByCode(settings, order.crypto_currency).address;
  const onChain = balances?.find(({ token }) => token === own)?.amount ?? null;
  const state = { ...order, escrowState: order.facts.escrow };
  const shown = deposits.map((row) => depositView(settings, state, row));
  const inside = (balances ?? [])
    .filter(({ amount }) => amount > 0n)
    .map((one) => balanceView(settings, one));
  return {
    order_id: order.order_id,
    status: order.status,
    summary: [
      ...whereItIs(order, shown, inside, wasTakenByOwners(movements)),
      ...(order.facts.held ? ['It is held for review.'] : []),
      nextSentence(order, next),
    ].join(' '),
    crypto_currency: order.crypto_currency,
    chain: order.chain,
    held_for_review: order.facts.held,
    escrow:
      order.escrow === null
        ? null
        : {
            address: order.escrow.address,
            state: order.facts.escrow,
            expected_amount: human(depositOf(order)),
            booked_amount: human(booked(`escrow:${order.order_id}`)),
            held_amount: human(booked(heldAccount(order.order_id))),
            balance_on_chain: onChain === null ? null : human(onChain),
            balances: inside,
            owners: {
              service: order.escrow.service,
              seller: order.escrow.seller,
              buyer: order.escrow.buyer,
            },
          },
    deposits: shown,
    movements: movementsView(movements, (asset, amount) => written(settings, order, asset, amount)),
    waiting_for: next,
    deadline_at: shownDeadline(order),
    who_can_move_it: whoCanMove(order),
  };
}

/** A dispute ends the trade and yet waits: for the operator, who may decide either way, then for a signature. */
function nextSentence(order: OrderRow, next: OrderFunds['waiting_for']): string {
  const isDisputed = ORDER_MACHINES[order.direction].statuses[order.status]?.outcome === 'disputed';
  if (isDisputed && !order.facts.held) {
    const signer = whoCanMove(order).find(({ actor }) => actor !== 'operator')?.actor;
    return signer === undefined
      ? 'The operator decides the dispute.'
      : `It waits for a signature of the ${signer}.`;
  }
  return next === null
    ? 'The order needs no action.'
    : `Next: ${next.actor} (${next.fact.replaceAll('_', ' ')}).`;
}

type BalanceView = NonNullable<OrderFunds['escrow']>['balances'][number];

const COIN_DECIMALS = 18;

function balanceView(settings: ChainSettings, { token, amount }: Balance): BalanceView {
  return {
    token_address: token,
    token: token === null ? null : (tokenOf(settings, token)?.code ?? null),
    amount: token === null ? formatFixed(amount, COIN_DECIMALS) : humanAmount(settings, token, amount),
    amount_atomic: `${amount}`,
  };
}

/** Never that nothing is there while something is: what the order has, then every deposit that is not its own. */
function whereItIs(
  order: OrderRow,
  deposits: readonly DepositView[],
  inside: readonly BalanceView[],
  isTakenByOwners: boolean,
): readonly string[] {
  const odd = deposits.filter(
    ({ status, return: back }) => status !== DEPOSIT_CREDITED && (status !== DEPOSIT_ACCEPTED || back),
  );
  const sentences = odd.map((one) => `${paid(one)} (${one.kind.replaceAll('_', ' ')}): ${one.says}`);
  if (order.facts.escrow !== 'none') {
    return [isTakenByOwners ? TAKEN_BY_OWNERS : WHERE[order.facts.escrow], ...sentences];
  }
  if (sentences.length > 0) return ['The order’s deposit is still missing.', ...sentences];
  if (inside.length === 0) return [WHERE.none];
  const amounts = inside.map(
    (one) => `${one.amount ?? one.amount_atomic} ${one.token ?? one.token_address ?? 'coin'}`,
  );
  return [`The escrow holds ${amounts.join(' and ')}, which is not final or fits nothing.`];
}

function paid({ amount, amount_atomic: units, token, token_address: address, sender }: DepositView): string {
  return `${amount === null ? `${units} units of ${address}` : `${amount} ${token}`} from ${sender}`;
}

/** Fiat, a token of the chain's, or units of an unknown token. */
function written(settings: ChainSettings, order: OrderRow, asset: string, amount: bigint): string {
  if (asset === order.fiat_currency) return formatFixed(amount, order.fiat_decimals);
  const code = asset.slice(0, asset.lastIndexOf('@'));
  const token = settings.tokens.find((one) => one.code === code);
  return token === undefined ? `${amount}` : formatFixed(amount, token.decimals);
}

function movementsView(
  rows: readonly MovementRow[],
  written: (asset: string, amount: bigint) => string,
): OrderFunds['movements'] {
  const byKind = Map.groupBy(rows, ({ kind }) => kind);
  return [...byKind].map(([kind, postings]) => ({
    kind,
    at: postings[0]?.at.toISOString() ?? '',
    postings: postings.map(({ account, asset, amount }) => ({
      account,
      asset,
      amount: written(asset, BigInt(amount)),
    })),
  }));
}
