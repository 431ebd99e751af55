import { multiSendCallOnly, safe, safeProxy, safeProxyFactory } from '@causeway/contracts';
import {
  decodeFunctionData,
  encodeAbiParameters,
  encodeEventTopics,
  encodePacked,
  erc20Abi,
  getAddress,
  getContractAddress,
  keccak256,
  sliceHex,
} from 'viem';
import type { Address, ChainSettings, Hex } from '../../apps/gateway/src/chain/chain-settings.ts';
import { hashSafeTransaction } from '../../apps/gateway/src/chain/escrow/safe-transaction.ts';
import { recoverSigner } from '../../apps/gateway/src/chain/signers/signature.ts';

/** What the contracts that an order meets do, without an EVM: tokens, the Safe and its factory, MultiSend. */
export interface ChainState {
  /** By token and holder. */
  readonly balances: ReadonlyMap<string, bigint>;
  readonly safes: ReadonlyMap<string, SafeState>;
  /** Transactions that an account has had mined. */
  readonly nonces: ReadonlyMap<string, number>;
}

export interface SafeState {
  readonly owners: readonly Address[];
  readonly nonce: bigint;
}

export interface ChainLog {
  readonly address: Address;
  readonly topics: readonly Hex[];
  readonly data: Hex;
}

export interface Execution {
  readonly state: ChainState;
  readonly logs: readonly ChainLog[];
}

/** The call has no effect at all. */
export class Reverted extends Error {
  override readonly name = 'Reverted';
}

interface Call {
  readonly to: Address;
  readonly data: Hex;
}

type Contracts = Pick<ChainSettings, 'chainId' | 'contracts' | 'tokens'>;

export const balanceKey = (token: string, holder: string) => `${token} ${holder}`.toLowerCase();

export function balanceOf(state: ChainState, token: string, holder: string): bigint {
  return state.balances.get(balanceKey(token, holder)) ?? 0n;
}

export function safeAt(state: ChainState, address: string): SafeState | undefined {
  return state.safes.get(address.toLowerCase());
}

/** All of a call's effects; throws `Reverted` where it has none. */
export function executeCall(settings: Contracts, state: ChainState, from: Address, call: Call): Execution {
  const to = call.to.toLowerCase();
  const { safeProxyFactory: factory, multiSendCallOnly: multiSend } = settings.contracts;
  if (settings.tokens.some(({ address }) => address.toLowerCase() === to)) return transfer(state, from, call);
  if (to === factory.toLowerCase()) return deploySafe(settings, state, call.data);
  if (to === multiSend.toLowerCase()) return inTurn(settings, state, from, packedCalls(call.data));
  if (state.safes.has(to)) return executeSafe(settings, state, call);
  // An account without code takes every call and does nothing.
  return { state, logs: [] };
}

function inTurn(settings: Contracts, state: ChainState, from: Address, calls: readonly Call[]): Execution {
  let current = state;
  const logs: ChainLog[] = [];
  for (const call of calls) {
    const done = executeCall(settings, current, from, call);
    current = done.state;
    logs.push(...done.logs);
  }
  return { state: current, logs };
}

function transfer(state: ChainState, from: Address, { to: token, data }: Call): Execution {
  const { functionName, args } = decodeFunctionData({ abi: erc20Abi, data });
  if (functionName !== 'transfer') throw new Reverted(`the token has no ${functionName}`);
  const [to, amount] = args;
  const left = balanceOf(state, token, from) - amount;
  if (left < 0n) throw new Reverted('transfer amount exceeds balance');
  const balances = new Map(state.balances);
  balances.set(balanceKey(token, from), left);
  balances.set(balanceKey(token, to), (balances.get(balanceKey(token, to)) ?? 0n) + amount);
  return { state: { ...state, balances }, logs: [transferLog(token, from, to, amount)] };
}

function transferLog(token: Address, from: Address, to: Address, amount: bigint): ChainLog {
  const topics = encodeEventTopics({ abi: erc20Abi, eventName: 'Transfer', args: { from, to } });
  return {
    address: token,
    topics: topics as Hex[],
    data: encodeAbiParameters([{ type: 'uint256' }], [amount]),
  };
}

function deploySafe({ contracts }: Contracts, state: ChainState, data: Hex): Execution {
  const { functionName, args } = decodeFunctionData({ abi: safeProxyFactory.abi, data });
  if (functionName !== 'createProxyWithNonce') throw new Reverted(`the factory has no ${functionName}`);
  const [singleton, initializer, saltNonce] = args;
  const address = getContractAddress({
    opcode: 'CREATE2',
    from: contracts.safeProxyFactory,
    salt: keccak256(encodePacked(['bytes32', 'uint256'], [keccak256(initializer), saltNonce])),
    bytecode: encodePacked(['bytes', 'uint256'], [safeProxy.bytecode, BigInt(singleton)]),
  });
  if (safeAt(state, address) !== undefined) throw new Reverted('the Safe is there already');
  const setup = decodeFunctionData({ abi: safe.abi, data: initializer });
  if (setup.functionName !== 'setup') throw new Reverted('a Safe is set up');
  const owners = setup.args[0].map((owner) => getAddress(owner));
  const safes = new Map(state.safes).set(address.toLowerCase(), { owners, nonce: 0n });
  return { state: { ...state, safes }, logs: [] };
}

function executeSafe(settings: Contracts, state: ChainState, { to: address, data }: Call): Execution {
  const known = safeAt(state, address);
  const { functionName, args } = decodeFunctionData({ abi: safe.abi, data });
  if (known === undefined || functionName !== 'execTransaction') throw new Reverted('the Safe refuses');
  const [to, value, inner, operation, safeTxGas, baseGas, gasPrice, gasToken, refundReceiver, signatures] =
    args;
  const parties = { service: address, seller: address, buyer: address };
  const escrow = {
    chainId: settings.chainId,
    address: getAddress(address),
    parties,
    deploymentCall: { to, value, data },
  };
  const transaction = {
    to,
    value,
    data: inner,
    operation: operation as 0 | 1,
    safeTxGas,
    baseGas,
    gasPrice,
    gasToken,
    refundReceiver,
    nonce: known.nonce,
  };
  const hash = hashSafeTransaction(escrow, transaction);
  if (!isSignedByTwo(known, hash, signatures)) throw new Reverted('GS026');
  const calls = operation === 1 ? packedCalls(inner) : [{ to, data: inner }];
  const safes = new Map(state.safes).set(address.toLowerCase(), { ...known, nonce: known.nonce + 1n });
  const done = inTurn(settings, { ...state, safes }, address, calls);
  const topics = encodeEventTopics({ abi: safe.abi, eventName: 'ExecutionSuccess', args: { txHash: hash } });
  const success: ChainLog = {
    address,
    topics: topics as Hex[],
    data: encodeAbiParameters([{ type: 'uint256' }], [0n]),
  };
  return { state: done.state, logs: [...done.logs, success] };
}

const SIGNATURE_BYTES = 65;

function isSignedByTwo({ owners }: SafeState, hash: Hex, packed: Hex): boolean {
  const signers = new Set<Address>();
  for (let at = 0; at + SIGNATURE_BYTES <= (packed.length - 2) / 2; at += SIGNATURE_BYTES) {
    const signer = recoverSigner(hash, sliceHex(packed, at, at + SIGNATURE_BYTES));
    if (owners.includes(signer)) signers.add(signer);
  }
  return signers.size >= 2;
}

/** The calls in a `multiSend`: operation, to, value, length and data of each, packed. */
function packedCalls(data: Hex): Call[] {
  const { functionName, args } = decodeFunctionData({ abi: multiSendCallOnly.abi, data });
  if (functionName !== 'multiSend') throw new Reverted('MultiSend sends');
  const bytes = args[0].slice(2);
  const calls: Call[] = [];
  for (let at = 0; at < bytes.length; ) {
    const to = getAddress(`0x${bytes.slice(at + 2, at + 42)}`);
    const length = Number(BigInt(`0x${bytes.slice(at + 106, at + 170)}`)) * 2;
    calls.push({ to, data: `0x${bytes.slice(at + 170, at + 170 + length)}` });
    at += 170 + length;
  }
  return calls;
}
