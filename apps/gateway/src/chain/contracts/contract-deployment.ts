import { setTimeout as delay } from 'node:timers/promises';
import { concatHex, formatEther, keccak256, parseTransaction, type TransactionReceipt } from 'viem';
import { machineNow } from '../../lib/clock.ts';
import type { Address, ContractCall, Hex } from '../chain-settings.ts';
import type { ChainClient } from '../rpc/chain-client.ts';
import type { Signer } from '../signers/keystore-signer.ts';
import { isDeployed } from '../token-reads.ts';
import { DEFAULT_FEE_LIMITS, type FeeLimits } from '../transactions/transaction-fees.ts';
import {
  answered,
  broadcast,
  CallRevertsError,
  ChainUnavailableError,
  currentFees,
  estimateGas,
  findReceipt,
  nonceAt,
  signTransaction,
} from '../transactions/transaction-rpc.ts';
import { type Create2Factory, FACTORY_CODE, type PlannedContract } from './contract-plan.ts';

/**
 * Puts contracts on a chain. Nothing is remembered between runs: the chain itself says what is missing, so a run that was
 * interrupted goes on where it stopped, and one with nothing to do sends nothing.
 */

/** Something that the deployer can put right; the message says how. */
export class DeploymentError extends Error {
  override readonly name = 'DeploymentError';
}

export interface DeployOptions {
  /** Told before and after each transaction. */
  readonly onStep?: (text: string) => void;
  /** How long one transaction may take to be mined. */
  readonly timeoutMs?: number;
  readonly pollingMs?: number;
}

const TIMEOUT_MS = 300_000;
const POLLING_MS = 1_000;
/** Only a node that answers nonsense asks for more: a thousand gwei. */
export const DEPLOYMENT_FEE_LIMITS: FeeLimits = { ...DEFAULT_FEE_LIMITS, maxFeePerGas: 10n ** 12n };
/** Sends what is missing, one transaction after another: each is seen mined before the next is signed. */
export async function deployContracts(
  client: ChainClient,
  deployer: Signer,
  missing: readonly PlannedContract[],
  options: DeployOptions = {},
): Promise<void> {
  if (missing.length === 0) return;
  await settlePool(client, deployer.address, options);
  for (const factory of new Set(missing.map((contract) => contract.factory))) {
    await ensureFactory(client, deployer, factory, options);
  }
  for (const { name, address, factory, salt, creationCode } of missing) {
    // Anyone may have put it there meanwhile: the same code at the same address, whichever account pays.
    if (await answered(isDeployed(client, address))) continue;
    options.onStep?.(`Deploying the ${name} to ${address}`);
    const call = { to: factory.address, value: 0n, data: concatHex([salt, creationCode]) };
    const receipt = await send(client, deployer, call, `the ${name}`, options);
    if (!(await answered(isDeployed(client, address)))) {
      throw new DeploymentError(
        `Transaction ${receipt.transactionHash} was mined (${receipt.status}), but there is no ${name} at ${address}.`,
      );
    }
  }
}

async function ensureFactory(
  client: ChainClient,
  deployer: Signer,
  factory: Create2Factory,
  options: DeployOptions,
): Promise<void> {
  if (await isFactoryThere(client, factory)) return;
  const { presigned } = factory;
  if (presigned === undefined)
    throw new DeploymentError(`There is no CREATE2 factory at ${factory.address}.`);
  const { sender, transaction } = presigned;
  if ((await nonceAt(client, sender, { blockTag: 'latest' })) > 0) {
    throw new DeploymentError(
      `The CREATE2 factory ${factory.address} is not on this chain, and its one transaction has been used up there (${sender} has sent it). It cannot be deployed any more: ask the chain's operators.`,
    );
  }
  const { baseFeePerGas } = await answered(client.getBlock());
  const { gasPrice = 0n } = parseTransaction(transaction);
  if ((baseFeePerGas ?? 0n) > gasPrice) {
    throw new DeploymentError(
      `The CREATE2 factory's transaction pays ${gasPrice / 10n ** 9n} gwei, and this chain asks for more at the moment. Try again when gas is cheaper.`,
    );
  }
  const value = await missingFunds(client, presigned);
  if (value > 0n) {
    options.onStep?.(`Paying ${formatEther(value)} to ${sender}, the sender of the CREATE2 factory`);
    await send(client, deployer, { to: sender, value, data: '0x' }, 'that payment', options);
  }
  options.onStep?.(`Deploying the CREATE2 factory to ${factory.address}`);
  const refusal = await broadcast(client, transaction);
  if (refusal !== undefined) {
    throw new DeploymentError(
      `The node does not take the CREATE2 factory's transaction: ${refusal.complaint}\n` +
        'It is signed for no particular chain (before EIP-155), which many nodes refuse. Send it through a node that allows it ' +
        "(geth: --rpc.allow-unprotected-txs), or ask the chain's operators; its sender has been paid. Then run this again. The transaction:\n" +
        transaction,
    );
  }
  await minedReceipt(client, keccak256(transaction), 'the CREATE2 factory', options);
  if (!(await isFactoryThere(client, factory))) {
    throw new DeploymentError(
      `The CREATE2 factory's transaction was mined and left nothing at ${factory.address}: this chain counts gas differently. Ask its operators to put the factory there.`,
    );
  }
}

export async function isFactoryThere(client: ChainClient, { address }: Create2Factory): Promise<boolean> {
  const code = await codeAt(client, address);
  if (code === undefined || code === FACTORY_CODE) return code !== undefined;
  throw new DeploymentError(`At ${address} there is other code than that of the CREATE2 factory.`);
}

/** What the sender of a presigned transaction lacks to pay for it. */
export async function missingFunds(
  client: ChainClient,
  { sender, transaction }: NonNullable<Create2Factory['presigned']>,
): Promise<bigint> {
  const { gas = 0n, gasPrice = 0n } = parseTransaction(transaction);
  const lacking = gas * gasPrice - (await answered(client.getBalance({ address: sender })));
  return lacking > 0n ? lacking : 0n;
}

/** What an interrupted run has left under way would otherwise be sent, and paid for, again. */
async function settlePool(
  client: ChainClient,
  sender: Address,
  { onStep, timeoutMs = TIMEOUT_MS, pollingMs = POLLING_MS }: DeployOptions,
): Promise<void> {
  const deadline = machineNow() + timeoutMs;
  for (let isTold = false; ; isTold = true) {
    const mined = await nonceAt(client, sender, { blockTag: 'latest' });
    if ((await nonceAt(client, sender, { blockTag: 'pending' })) <= mined) return;
    if (!isTold) onStep?.('Waiting for transactions of the deployer that are under way');
    if (machineNow() > deadline) {
      throw new DeploymentError(
        `Transactions of ${sender} have been waiting to be mined (from nonce ${mined}). Replace them from its wallet, or wait, and run this again.`,
      );
    }
    await delay(pollingMs);
  }
}

async function send(
  client: ChainClient,
  deployer: Signer,
  call: ContractCall,
  what: string,
  options: DeployOptions,
): Promise<TransactionReceipt> {
  const gas = await estimateGas(client, deployer.address, call).catch((error: unknown) => {
    if (!(error instanceof CallRevertsError)) throw error;
    throw new DeploymentError(`The chain would not run the transaction for ${what}: ${error.message}`);
  });
  const fees = await currentFees(client, DEPLOYMENT_FEE_LIMITS);
  const nonce = await nonceAt(client, deployer.address, { blockTag: 'latest' });
  const { raw, txHash } = await signTransaction(
    deployer,
    { chainId: client.chain.id, nonce, call, gas },
    fees,
  );
  const refusal = await broadcast(client, raw);
  if (refusal !== undefined) {
    throw new DeploymentError(
      `The node does not take the transaction for ${what}: ${refusal.complaint}\nRun this again: whatever was taken all the same is not sent twice.`,
    );
  }
  return minedReceipt(client, txHash, what, options);
}

async function minedReceipt(
  client: ChainClient,
  txHash: Hex,
  what: string,
  { timeoutMs = TIMEOUT_MS, pollingMs = POLLING_MS }: DeployOptions,
): Promise<TransactionReceipt> {
  const deadline = machineNow() + timeoutMs;
  while (true) {
    try {
      const receipt = await findReceipt(client, [txHash]);
      if (receipt !== undefined) return receipt;
    } catch (error) {
      // It has been sent: a node that is away for a moment changes nothing about that.
      if (!(error instanceof ChainUnavailableError)) throw error;
    }
    if (machineNow() > deadline) {
      throw new DeploymentError(
        `Transaction ${txHash} for ${what} was sent and is not mined yet. Run this again: it goes on from there.`,
      );
    }
    await delay(pollingMs);
  }
}

export async function codeAt(client: ChainClient, address: Address): Promise<Hex | undefined> {
  const code = await answered(client.getCode({ address }));
  return code === undefined || code === '0x' ? undefined : (code.toLowerCase() as Hex);
}
