import { CausewayError, formatFixed, ORDER_MACHINES, type WidgetFundingSchema } from '@causeway/protocol';
import type { Static } from 'typebox';
import { type ChainToken, tokenByCode } from '../../chain/chain-settings.ts';
import type { Chains, ConnectedChain } from '../../chain/chains.ts';
import { approvalCall, tokenAllowance, tokenBalance } from '../../chain/token-reads.ts';
import { answered } from '../../chain/transactions/transaction-rpc.ts';
import type { UnitDeps } from '../../engine/unit-of-work.ts';
import { depositOf, ensureEscrow, treasuryOf } from '../orders/escrow/escrow.ts';
import { type OrderCaller, readOrder } from '../orders/lifecycle/act-on-order.ts';
import type { OrderEscrow, OrderRow } from '../orders/lifecycle/order.ts';

type Funding = Static<typeof WidgetFundingSchema>;

/** Changes an allowance that is not 0 to 0 only: it takes two transactions where there is one already. */
const RESETS_ALLOWANCE: ReadonlySet<string> = new Set(['USDT']);

/** Whether the wallet can pay, what it has to send first, and whom it trusts in whatever it is asked to sign. */
export async function readFunding(
  deps: UnitDeps & { readonly chains: Chains },
  { scope }: OrderCaller,
  orderId: string,
): Promise<Funding> {
  const found = await readOrder(deps.db, scope, orderId);
  if (found === undefined) throw new CausewayError('ORDER_NOT_FOUND');
  // An order that stopped before it had an escrow needs none any more.
  const order = isStopped(found) ? found : await ensureEscrow(deps, found);
  const { escrow } = order;
  if (escrow === null) {
    throw new CausewayError('OPERATION_NOT_ALLOWED', { message: 'No vendor serves the order yet.' });
  }
  const chain = deps.chains.get(order.chain);
  const token = tokenByCode(chain.settings, order.crypto_currency);
  const wallet = order.direction === 'onramp' ? escrow.buyer : escrow.seller;
  const { router } = chain.settings.contracts;
  const amount = amountToPay(order);
  const [balance, allowance] = await answered(
    Promise.all([
      tokenBalance(chain.client, token.address, wallet),
      tokenAllowance(chain.client, token.address, wallet, router),
    ]),
  ).catch((cause: unknown) => {
    throw new CausewayError('TRANSACTOR_UNAVAILABLE', { cause });
  });
  return {
    wallet_address: wallet,
    chain_id: chain.settings.chainId,
    token_address: token.address,
    crypto_currency: token.code,
    amount_atomic: `${amount}`,
    amount_human: formatFixed(amount, token.decimals),
    balance_human: formatFixed(balance, token.decimals),
    is_balance_sufficient: balance >= amount,
    shortfall: formatFixed(BigInt(order.deposit_shortfall), token.decimals),
    approval: approvalOf(chain, token, wallet, amount, allowance),
    trust: trustOf(chain, escrow),
  };
}

/** Nothing once it is paid, and nothing on-ramp, where the vendor pays. */
function amountToPay(order: OrderRow): bigint {
  const isNothing = order.direction === 'onramp' || order.facts.escrow !== 'none' || isStopped(order);
  return isNothing ? 0n : depositOf(order);
}

function isStopped({ direction, status }: OrderRow): boolean {
  return ORDER_MACHINES[direction].statuses[status]?.outcome !== undefined;
}

function approvalOf(
  { settings }: ConnectedChain,
  token: ChainToken,
  from: `0x${string}`,
  amount: bigint,
  allowance: bigint,
): Funding['approval'] {
  if (allowance >= amount) return null;
  const isReset = allowance > 0n && RESETS_ALLOWANCE.has(token.code);
  const approved = isReset ? 0n : amount;
  const { to, data } = approvalCall(token.address, settings.contracts.router, approved);
  return { amount_atomic: `${approved}`, chain_id: settings.chainId, from, to, data, value: '0x0' };
}

function trustOf({ settings }: ConnectedChain, escrow: OrderEscrow): Funding['trust'] {
  const { contracts } = settings;
  const treasury = treasuryOf(settings, escrow);
  const { service, seller, buyer, partner = null } = escrow;
  return {
    ...{ service, seller, buyer, treasury, partner },
    router: contracts.router,
    forwarder: contracts.forwarder,
    contracts: { ...contracts },
  };
}
