import { getAddress, type TransactionReceipt } from 'viem';
import type { Database } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import type { IdGenerator } from '../../lib/ids.ts';
import type { Address, ChainSettings, ContractCall, Hex } from '../chain-settings.ts';
import type { ChainClient } from '../rpc/chain-client.ts';
import type { Signer } from '../signers/keystore-signer.ts';
import { type DryWallets, type HotWallet, leastBusyWallet, rememberDryWallets } from './hot-wallets.ts';
import {
  allocateTransaction,
  findTransaction,
  type SignedVersion,
  settle,
  settleDisplaced,
  storeVersion,
  type TransactionRecord,
} from './transaction.store.ts';
import { DEFAULT_FEE_LIMITS, type Fees, replacementFees } from './transaction-fees.ts';
import {
  broadcast,
  CallRevertsError,
  ChainUnavailableError,
  currentFees,
  estimateGas,
  findReceipt,
  headNumber,
  isFinal,
  nonceAt,
  signTransaction,
} from './transaction-rpc.ts';

/**
 * Carries effects to the chain: one effect key, at most one transaction that can ever be mined, whatever crashes.
 *
 * The order is what makes it safe: the nonce is taken and committed, then the signed bytes are stored and committed,
 * and only then is anything sent. A crash at any point leaves a row that says how to go on: sign for the nonce it
 * has, or send the bytes it has. Nothing is ever signed at a second nonce, so nothing can happen twice.
 *
 * `advance` does the next step and says where the effect stands; it may be called again at any time, by any process.
 */
export interface Transactor {
  advance(effectKey: string, describe: () => Promise<ChainEffect | undefined>): Promise<TransactionProgress>;
}

export interface ChainEffect {
  chainId: number;
  /** Whose effect it is; any of the service's hot wallets where it does not matter. */
  sender: Address | 'hot-wallet';
  call: ContractCall;
}

export type TransactionProgress =
  /** Nothing was described to be sent, and nothing had been. */
  | { state: 'unneeded' }
  /** The call would revert: no nonce was taken and nothing was signed. */
  | { state: 'refused'; reason: string }
  /** On its way, or the chain cannot be asked just now. */
  | { state: 'pending'; reason?: string }
  /** Final: deep enough below the head. A receipt can still say that the call reverted. */
  | { state: 'mined'; txHash: Hex; receipt: TransactionReceipt }
  /**
   * Something else has used its nonce for good: the key is used outside of this service, or the database is older than the
   * chain. No version that is on record was mined or can be; what used the nonce, and whether it had this effect, only
   * the chain can tell. `isNews` the first time that it is told.
   */
  | { state: 'displaced'; nonce: number; isNews: boolean };

export interface TransactorDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly chains: readonly TransactorChain[];
  readonly signers: readonly Signer[];
  /** Signers that come later: the simulated vendors that a sandbox's operator makes. */
  readonly findSigner?: ((address: Address) => Promise<Signer | undefined>) | undefined;
  /** Pay for effects that any signer may send; the first signer by default. */
  readonly hotWallets?: readonly HotWallet[];
  readonly limits?: Partial<TransactorLimits>;
}

interface TransactorChain {
  readonly settings: Pick<ChainSettings, 'slug' | 'chainId' | 'confirmations' | 'fees'>;
  readonly client: ChainClient;
}

interface TransactorLimits {
  /** How long a transaction that is next in line may stay unmined before a better paid version is signed. */
  readonly bumpAfterMs: number;
}

const DEFAULT_LIMITS: TransactorLimits = { bumpAfterMs: 60_000 };

/** What every step of a transaction needs. */
interface Sending {
  readonly db: Database;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly limits: TransactorLimits;
  readonly hotWallets: readonly HotWallet[];
  readonly dryWallets: DryWallets;
  chainOf(chainId: number): TransactorChain;
  signerOf(address: Address): Promise<Signer>;
}

type DescribeEffect = () => Promise<ChainEffect | undefined>;

export function createTransactor(deps: TransactorDeps): Transactor {
  const sending = sendingOf(deps);
  return {
    async advance(effectKey, describe) {
      try {
        return await advance(sending, effectKey, describe);
      } catch (error) {
        if (error instanceof CallRevertsError) return { state: 'refused', reason: error.message };
        if (error instanceof ChainUnavailableError) return { state: 'pending', reason: error.message };
        throw error;
      }
    },
  };
}

function sendingOf({ db, clock, ids, ...deps }: TransactorDeps): Sending {
  const chainById = new Map(deps.chains.map((chain) => [chain.settings.chainId, chain]));
  const hotWallets: readonly HotWallet[] =
    deps.hotWallets ?? deps.signers.slice(0, 1).map((signer) => ({ signer }));
  const signers = [...deps.signers, ...hotWallets.map(({ signer }) => signer)];
  const signerByAddress = new Map(signers.map((signer) => [getAddress(signer.address), signer]));
  return {
    db,
    clock,
    ids,
    hotWallets,
    dryWallets: rememberDryWallets(clock),
    limits: { ...DEFAULT_LIMITS, ...deps.limits },
    chainOf(chainId) {
      const chain = chainById.get(chainId);
      if (chain === undefined) throw new Error(`chain ${chainId} is not configured`);
      return chain;
    },
    async signerOf(address) {
      const signer = signerByAddress.get(getAddress(address)) ?? (await deps.findSigner?.(address));
      if (signer === undefined) throw new Error(`there is no signer for ${address}`);
      return signer;
    },
  };
}

async function advance(
  sending: Sending,
  effectKey: string,
  describe: DescribeEffect,
): Promise<TransactionProgress> {
  const record =
    (await findTransaction(sending.db, effectKey)) ?? (await begin(sending, effectKey, describe));
  if (record === undefined) return { state: 'unneeded' };
  if (record.isDisplaced) return { state: 'displaced', nonce: record.nonce, isNews: false };
  if (record.versions.length > 0) return followUp(sending, effectKey, record);
  const { client, settings } = sending.chainOf(record.chainId);
  const fees = await currentFees(client, settings.fees ?? DEFAULT_FEE_LIMITS);
  return (await sendAndLook(sending, await addVersion(sending, effectKey, record, fees))).progress;
}

// The nonce.

async function begin(
  sending: Sending,
  effectKey: string,
  describe: DescribeEffect,
): Promise<TransactionRecord | undefined> {
  const effect = await describe();
  return effect === undefined ? undefined : allocate(sending, effectKey, effect);
}

async function allocate(
  sending: Sending,
  effectKey: string,
  effect: ChainEffect,
): Promise<TransactionRecord> {
  const { db, ids, clock, chainOf, signerOf } = sending;
  const { chainId, call } = effect;
  const { client, settings } = chainOf(chainId);
  const wanted =
    effect.sender === 'hot-wallet'
      ? await leastBusyWallet(db, sending.hotWallets, settings, sending.dryWallets)
      : effect.sender;
  // Without its key the nonce could never be used, and everything behind it would wait for ever.
  const sender = getAddress((await signerOf(wanted)).address);
  const gas = await estimateGas(client, sender, call);
  const observedNonce = await nonceAt(client, sender, { blockTag: 'pending' });
  return allocateTransaction(db, {
    transactionId: ids.uuid(),
    effectKey,
    chainId,
    sender,
    call,
    gas,
    observedNonce,
    at: clock.date(),
  });
}

// Signing and replacing.

/** Signs and stores the next version, or finds the one that another process stored meanwhile. */
async function addVersion(
  { db, clock, signerOf }: Sending,
  effectKey: string,
  record: TransactionRecord,
  fees: Fees,
): Promise<TransactionRecord> {
  const signed: SignedVersion = {
    version: (record.versions.at(-1)?.version ?? 0) + 1,
    ...(await signTransaction(await signerOf(record.sender), record, fees)),
    ...fees,
    signedAt: clock.date(),
  };
  if (await storeVersion(db, record.transactionId, signed)) {
    return { ...record, versions: [...record.versions, signed] };
  }
  return (await findTransaction(db, effectKey)) ?? record;
}

/** Fees of the next version; undefined while it is not time for one, or where it would cost more than the limits. */
async function betterFees(
  { clock, limits, chainOf }: Sending,
  record: TransactionRecord,
  usedNonces: number,
): Promise<Fees | undefined> {
  const latest = latestOf(record);
  const isNextInLine = usedNonces === record.nonce;
  const isLate = clock.now() - latest.signedAt.getTime() >= limits.bumpAfterMs;
  if (!isNextInLine || !isLate) return undefined;
  const { client, settings } = chainOf(record.chainId);
  const feeLimits = settings.fees ?? DEFAULT_FEE_LIMITS;
  return replacementFees(latest, await currentFees(client, feeLimits), feeLimits);
}

// Sending.

interface Sent {
  readonly progress: TransactionProgress;
  /**
   * Whether a better price could help: a node has the transaction, or finds it too cheap. For a wallet without funds every
   * better version would only raise what has to be filled in, and its tip would then be paid in full.
   */
  readonly mayNeedMore: boolean;
}

async function sendAndLook(sending: Sending, record: TransactionRecord): Promise<Sent> {
  const { client } = sending.chainOf(record.chainId);
  const refusal = await broadcast(client, latestOf(record).raw);
  if (refusal !== undefined) {
    const { cause, complaint } = refusal;
    if (cause === 'no_funds') sending.dryWallets.note(record.chainId, record.sender);
    return { progress: { state: 'pending', reason: complaint }, mayNeedMore: cause === 'too_cheap' };
  }
  const receipt = await findReceipt(client, hashesOf(record));
  if (receipt === undefined) return { progress: { state: 'pending' }, mayNeedMore: true };
  return { progress: await settleByReceipt(sending, record, receipt), mayNeedMore: false };
}

async function followUp(
  sending: Sending,
  effectKey: string,
  record: TransactionRecord,
): Promise<TransactionProgress> {
  const { client } = sending.chainOf(record.chainId);
  const receipt = await findReceipt(client, hashesOf(record));
  if (receipt !== undefined) return settleByReceipt(sending, record, receipt);
  if (record.minedHash !== null)
    return { state: 'pending', reason: 'the node has no receipt of a final transaction' };
  const usedNonces = await nonceAt(client, record.sender, { blockTag: 'latest' });
  if (usedNonces > record.nonce) return settleSpentNonce(sending, record);
  const sent = await sendAndLook(sending, record);
  const fees = sent.mayNeedMore ? await betterFees(sending, record, usedNonces) : undefined;
  if (fees === undefined) return sent.progress;
  return (await sendAndLook(sending, await addVersion(sending, effectKey, record, fees))).progress;
}

// Settling.

async function settleByReceipt(
  { db, clock, chainOf }: Sending,
  record: TransactionRecord,
  receipt: TransactionReceipt,
): Promise<TransactionProgress> {
  const { client, settings } = chainOf(record.chainId);
  if (!(await isFinal(client, receipt, settings.confirmations))) return { state: 'pending' };
  const { transactionHash: txHash, blockNumber, blockHash, status } = receipt;
  if (record.minedHash === null) {
    const succeeded = status === 'success';
    await settle(db, record.transactionId, { succeeded, txHash, blockNumber, blockHash, at: clock.date() });
  }
  return { state: 'mined', txHash, receipt };
}

/**
 * The nonce is used and none of our hashes has a receipt: a late index, a reorganisation, or another sender. It is another
 * sender only when the nonce was used in a final block and there is still no receipt after that.
 */
async function settleSpentNonce(sending: Sending, record: TransactionRecord): Promise<TransactionProgress> {
  const { client, settings } = sending.chainOf(record.chainId);
  const finalBlock = (await headNumber(client)) - BigInt(settings.confirmations) + 1n;
  if (finalBlock < 0n) return { state: 'pending' };
  if ((await nonceAt(client, record.sender, { blockNumber: finalBlock })) <= record.nonce) {
    return { state: 'pending' };
  }
  const receipt = await findReceipt(client, hashesOf(record));
  if (receipt !== undefined) return settleByReceipt(sending, record, receipt);
  const isNews = await settleDisplaced(sending.db, record.transactionId, sending.clock.date());
  return { state: 'displaced', nonce: record.nonce, isNews };
}

function latestOf(record: TransactionRecord): SignedVersion {
  const latest = record.versions.at(-1);
  if (latest === undefined) throw new Error('nothing is sent before it is signed and stored');
  return latest;
}

function hashesOf(record: TransactionRecord): Hex[] {
  return record.versions.map(({ txHash }) => txHash);
}
