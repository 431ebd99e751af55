import { setTimeout as sleep } from 'node:timers/promises';
import { CausewayError, parsePositiveAmount } from '@causeway/protocol';
import { type Address, type ContractCall, type Hex, toChecksumAddress } from '../../chain/chain-settings.ts';
import type { Chains, ConnectedChain } from '../../chain/chains.ts';
import { tokenTransferCall } from '../../chain/token-reads.ts';
import { transactionHandler } from '../../chain/transactions/transaction-handler.ts';
import {
  CallRevertsError,
  ChainUnavailableError,
  estimateGas,
} from '../../chain/transactions/transaction-rpc.ts';
import type { Transactor } from '../../chain/transactions/transactor.ts';
import { partnerScope, type Scope } from '../../db/database.ts';
import type { IntentPayload } from '../../engine/effects.ts';
import { prepareIntent } from '../../engine/intent.ts';
import type { IntentHandler } from '../../engine/intent-handler.ts';
import { type UnitDeps, type UnitOfWork, unitOfWork } from '../../engine/unit-of-work.ts';
import { invalidRequest } from '../../http/errors.ts';
import { schedule } from '../../lib/backoff.ts';
import { sha256Hex } from '../../lib/crypto.ts';
import { upperCode } from '../../lib/iso-codes.ts';
import type { Logger } from '../../lib/logger.ts';
import { effectState } from './sandbox.store.ts';

/** Gives tokens and gas to any wallet on a sandbox's chains. The worker pays, so that a payment survives a crash. */
export interface FaucetDeps extends UnitDeps {
  readonly chains: Chains;
  /** The faucet's own wallet; none where the chains are not the sandbox's. */
  readonly faucet: Address | undefined;
}

export interface FaucetRequest {
  readonly chain: string;
  readonly token: string;
  readonly address: string;
  readonly amount: string;
}

const NATIVE = { code: 'native', decimals: 18, address: null, most: 1_000n } as const;
const MOST_TOKENS = 1_000_000n;
export const FAUCET_PAYMENTS_PER_MINUTE = 60;
const PAID_WITHIN_MS = 20_000;
const LOOK_AGAIN_MS = 50;
const POLL_MS = 100;
/** What each wallet of a sandbox begins with. */
const WALLET_ETHER_WEI = 10n ** 19n;
const WALLET_TOKENS = 10_000_000n;

type Payment = IntentPayload<'sandbox.faucet'>;

/** Pays, and answers once the payment is final: the balance is there then. */
export async function payFromFaucet(
  deps: FaucetDeps,
  partnerId: string,
  requested: FaucetRequest,
  idempotencyKey: string | undefined,
): Promise<{ transaction_hash: string }> {
  const chain = connectedChain(deps.chains, requested.chain);
  const payment = paymentOf(chain, requested);
  await requirePayable(deps, chain, payment);
  // Asked again under its key after a lost answer, it is the same payment.
  const dedupeKey =
    idempotencyKey === undefined
      ? deps.ids.uuid()
      : sha256Hex(JSON.stringify([partnerId, idempotencyKey, payment]));
  const scope = partnerScope(partnerId);
  await unitOfWork(deps, scope, async (unit) =>
    prepareIntent(unit, { kind: 'sandbox.faucet', dedupeKey, partnerId, payload: payment }),
  );
  return { transaction_hash: await paid(deps, scope, dedupeKey) };
}

function connectedChain({ all }: Chains, slug: string): ConnectedChain {
  const found = all.find(({ settings }) => settings.slug === slug);
  if (found !== undefined) return found;
  const slugs = all.map(({ settings }) => settings.slug);
  throw invalidRequest('chain', `is not a chain of this sandbox (${slugs.join(', ')})`);
}

function paymentOf({ settings }: ConnectedChain, requested: FaucetRequest): Payment {
  const code = upperCode(requested.token);
  const tokens = [...settings.tokens.map((one) => ({ ...one, most: MOST_TOKENS })), NATIVE];
  const token = tokens.find((one) => one.code.toUpperCase() === code);
  if (token === undefined) {
    throw invalidRequest('token', `must be one of ${tokens.map((one) => one.code).join(', ')}`);
  }
  const address = toChecksumAddress(requested.address);
  if (address === undefined) {
    throw invalidRequest(
      'address',
      'must be an EVM address with its EIP-55 checksum or in one case, and not the zero address',
    );
  }
  const own = [...Object.values(settings.contracts), ...settings.tokens.map((one) => one.address)];
  if (own.some((one) => one.toLowerCase() === address.toLowerCase())) {
    throw invalidRequest('address', 'is a contract of this sandbox, from which nothing comes back');
  }
  const amount = parsePositiveAmount(requested.amount, token);
  if (!amount.ok) {
    const reason =
      amount.reason === 'excess_precision' ? `has more than ${token.decimals} decimals` : amount.reason;
    throw invalidRequest('amount', `is not a valid amount of ${token.code} (${reason})`);
  }
  const { atomic } = amount.value;
  if (atomic > token.most * 10n ** BigInt(token.decimals)) {
    throw invalidRequest('amount', `must be at most ${token.most} ${token.code} at a time`);
  }
  return { chain_id: settings.chainId, token_address: token.address, address, amount_atomic: `${atomic}` };
}

function callOf({ token_address: token, address, amount_atomic }: Payment): ContractCall {
  const [to, amount] = [address as Address, BigInt(amount_atomic)];
  return token === null
    ? { to, data: '0x', value: amount }
    : tokenTransferCall({ token: token as Address, to, amount });
}

/** What would revert is refused before anything is written: a contract that takes no ether, say. */
async function requirePayable(
  { faucet }: FaucetDeps,
  { client }: ConnectedChain,
  payment: Payment,
): Promise<void> {
  if (faucet === undefined)
    throw new CausewayError('OPERATION_NOT_ALLOWED', { message: 'There is no faucet.' });
  try {
    await estimateGas(client, faucet, callOf(payment));
  } catch (error) {
    if (error instanceof CallRevertsError) {
      throw invalidRequest('address', 'refuses this payment: it is a contract that does not take it');
    }
    if (error instanceof ChainUnavailableError) {
      throw new CausewayError('TRANSACTOR_UNAVAILABLE', { cause: error });
    }
    throw error;
  }
}

async function paid({ db }: FaucetDeps, scope: Scope, dedupeKey: string): Promise<Hex> {
  for (let waited = 0; waited < PAID_WITHIN_MS; waited += LOOK_AGAIN_MS) {
    const [effect] = await db.query(scope, effectState, ['sandbox.faucet', dedupeKey]);
    if (effect?.settled === true) {
      if (typeof effect.result === 'string') return effect.result as Hex;
      throw new CausewayError('TRANSACTOR_UNAVAILABLE', {
        cause: new Error(effect.last_error ?? 'not paid'),
      });
    }
    await sleep(LOOK_AGAIN_MS);
  }
  // It is under way: the same Idempotency-Key finds it again.
  throw new CausewayError('SERVICE_UNAVAILABLE', { cause: new Error('the faucet waits for the chain') });
}

/** A new wallet gets on every chain what the sandbox's own wallets have. */
export function fundNewWallet(unit: UnitOfWork, { all }: Chains, address: Address): void {
  for (const { settings } of all) {
    const amounts = [
      { token: null, amount: WALLET_ETHER_WEI },
      ...settings.tokens.map((token) => ({
        token: token.address,
        amount: WALLET_TOKENS * 10n ** BigInt(token.decimals),
      })),
    ];
    for (const { token, amount } of amounts) {
      prepareIntent(unit, {
        kind: 'sandbox.faucet',
        dedupeKey: `${address}:${settings.chainId}:${token ?? NATIVE.code}`,
        partnerId: null,
        payload: {
          chain_id: settings.chainId,
          token_address: token,
          address,
          amount_atomic: `${amount}`,
        },
      });
    }
  }
}

export function faucetHandler(deps: {
  readonly transactor: Transactor;
  readonly logger: Logger;
  readonly faucet: Address;
}): IntentHandler<'sandbox.faucet'> {
  return transactionHandler(deps.transactor, {
    schedule: schedule([1, 2, 5], { maxAttempts: 5 }),
    pollMs: POLL_MS,
    logger: deps.logger,
    describe: async ({ payload }) => ({
      chainId: payload.chain_id,
      sender: deps.faucet,
      call: callOf(payload),
    }),
    conclude: async (_intent, { txHash, receipt }) =>
      receipt.status === 'success'
        ? { kind: 'confirmed', result: txHash }
        : { kind: 'failed', error: `the payment ${txHash} reverted` },
    // A plain transfer, which the chain would admit twice.
    displaced: () => ({
      kind: 'failed',
      error: 'another transaction of the faucet’s wallet has used its nonce',
    }),
  });
}
