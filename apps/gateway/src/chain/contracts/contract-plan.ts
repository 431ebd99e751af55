import {
  causewayRouter,
  compatibilityFallbackHandler,
  erc2771Forwarder,
  multiSendCallOnly,
  safe,
  safeProxyFactory,
} from '@causeway/contracts';
import {
  concatHex,
  domainSeparator,
  encodeAbiParameters,
  getAddress,
  getContractAddress,
  keccak256,
  pad,
  size,
  slice,
  stringToHex,
  toHex,
  zeroHash,
} from 'viem';
import { FORWARDER_NAME, forwarderDomain } from '../authorization/forward-request.ts';
import type { Address, ChainContracts, Hex } from '../chain-settings.ts';

/**
 * Where the contracts belong and what their code must be, without asking a chain. Addresses follow from the code (CREATE2);
 * the code on chain is that of the build with the immutables that a constructor writes into it.
 */

export type ContractRole = keyof ChainContracts;

export const CONTRACT_ROLES = [
  'safeSingleton',
  'safeProxyFactory',
  'multiSendCallOnly',
  'fallbackHandler',
  'forwarder',
  'router',
] as const satisfies readonly ContractRole[];

export const SAFE_ROLES = CONTRACT_ROLES.slice(0, 4) as readonly SafeRole[];
type SafeRole = Exclude<ContractRole, 'forwarder' | 'router'>;

/** As people read them; Safe's are release 1.4.1. */
export const CONTRACT_NAMES: Readonly<Record<ContractRole, string>> = {
  safeSingleton: 'Safe singleton',
  safeProxyFactory: 'Safe proxy factory',
  multiSendCallOnly: 'Safe MultiSendCallOnly',
  fallbackHandler: 'Safe fallback handler',
  forwarder: 'forwarder',
  router: 'router',
};

interface Artifact {
  readonly bytecode: Hex;
  readonly runtimeBytecode: Hex;
  readonly immutables: Readonly<Record<string, readonly number[]>>;
}

const ARTIFACTS: Readonly<Record<ContractRole, Artifact>> = {
  safeSingleton: safe,
  safeProxyFactory,
  multiSendCallOnly,
  fallbackHandler: compatibilityFallbackHandler,
  forwarder: erc2771Forwarder,
  router: causewayRouter,
};

/** A contract that creates others by CREATE2: salt and creation code in, nothing else decides the address. */
export interface Create2Factory {
  readonly address: Address;
  /** Puts the factory itself on a chain; its signature was made up, so there is no key of its sender. */
  readonly presigned?: { readonly sender: Address; readonly transaction: Hex };
}

/** The one most chains have (github.com/Arachnid/deterministic-deployment-proxy). */
export const KEYLESS_FACTORY: Create2Factory = {
  address: '0x4e59b44847b379578588920cA78FbF26c0B4956C',
  presigned: {
    sender: '0x3fAB184622Dc19b6109349B94811493BF2a45362',
    transaction: `0xf8a58085174876e800830186a08080b853604580600e600039806000f350fe7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf31ba0${'22'.repeat(32)}a0${'22'.repeat(32)}`,
  },
};

/** Safe's own: the release is at the same addresses wherever its authors have put this factory. */
export const SAFE_FACTORY: Create2Factory = { address: '0x914d7Fec6aaC8cd542e72Bca78B30650d45643d7' };

/** What either factory has on chain. */
export const FACTORY_CODE: Hex =
  '0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3';

export interface PlannedContract {
  readonly name: string;
  readonly address: Address;
  readonly factory: Create2Factory;
  readonly salt: Hex;
  readonly creationCode: Hex;
}

export function planContract(
  name: string,
  code: { readonly bytecode: Hex; readonly constructorArguments?: Hex },
  place: { readonly factory: Create2Factory; readonly salt: Hex },
): PlannedContract {
  const { factory, salt } = place;
  const creationCode = concatHex([code.bytecode, code.constructorArguments ?? '0x']);
  const address = getContractAddress({
    opcode: 'CREATE2',
    from: factory.address,
    salt,
    bytecode: creationCode,
  });
  return { name, address, factory, salt, creationCode };
}

/** One of Safe's contracts, by default as its authors deploy it: without a salt, so that the factory decides where. */
export function planSafe(role: SafeRole, factory: Create2Factory, salt: Hex = zeroHash): PlannedContract {
  return planContract(CONTRACT_NAMES[role], ARTIFACTS[role], { factory, salt });
}

export function planForwarder(factory: Create2Factory, salt = saltOf('forwarder')): PlannedContract {
  const constructorArguments = encodeAbiParameters([{ type: 'string' }], [FORWARDER_NAME]);
  return planContract('forwarder', { ...ARTIFACTS.forwarder, constructorArguments }, { factory, salt });
}

export function planRouter(
  factory: Create2Factory,
  forwarder: Address,
  salt = saltOf('router'),
): PlannedContract {
  const constructorArguments = encodeAbiParameters([{ type: 'address' }], [forwarder]);
  return planContract('router', { ...ARTIFACTS.router, constructorArguments }, { factory, salt });
}

export function saltOf(name: string): Hex {
  return keccak256(stringToHex(`causeway:${name}`));
}

interface CodeContext {
  readonly chainId: number;
  readonly contracts: ChainContracts;
}

/** The code that must be at a role's address, to the byte. */
export function expectedCode(role: ContractRole, { chainId, contracts }: CodeContext): Hex {
  const { runtimeBytecode, immutables } = ARTIFACTS[role];
  return withWords(runtimeBytecode, immutables, (variable) => {
    const word = immutableWords(chainId, contracts)[variable];
    if (word === undefined) throw new Error(`the ${CONTRACT_NAMES[role]} has an immutable ${variable}`);
    return word;
  });
}

function immutableWords(chainId: number, contracts: ChainContracts): Readonly<Record<string, Hex>> {
  const domain = forwarderDomain({ chainId, contracts });
  return {
    _trustedForwarder: pad(contracts.forwarder),
    _cachedChainId: toHex(chainId, { size: 32 }),
    _cachedThis: pad(contracts.forwarder),
    _cachedDomainSeparator: domainSeparator({ domain }),
    _hashedName: keccak256(stringToHex(domain.name)),
    _hashedVersion: keccak256(stringToHex(domain.version)),
    _name: shortString(domain.name),
    _version: shortString(domain.version),
  };
}

/** OpenZeppelin's ShortString: the text, and its length in the last byte. */
function shortString(text: string): Hex {
  const bytes = stringToHex(text);
  return concatHex([pad(bytes, { dir: 'right', size: 31 }), toHex(size(bytes), { size: 1 })]);
}

export type CodeVerdict =
  | { readonly state: 'right' | 'missing'; readonly reason?: undefined }
  | { readonly state: 'wrong'; readonly reason: string };

/** Says what is wrong in a way that leads to the mistake: a swapped line, another forwarder, another build. */
export function judgeCode(role: ContractRole, context: CodeContext, code: Hex | undefined): CodeVerdict {
  if (code === undefined || code === '0x') return { state: 'missing' };
  const expected = expectedCode(role, context);
  if (code === expected) return { state: 'right' };
  if (isBuildOf(role, code)) return { state: 'wrong', reason: otherImmutables(role, context, code) };
  const other = CONTRACT_ROLES.find((candidate) => isBuildOf(candidate, code));
  if (other !== undefined) return { state: 'wrong', reason: `it is the ${CONTRACT_NAMES[other]}` };
  const found = `${size(code)} bytes, keccak256 ${keccak256(code)}`;
  return {
    state: 'wrong',
    reason: `other code than this build's (${found}; expected ${size(expected)} bytes, ${keccak256(expected)})`,
  };
}

function isBuildOf(role: ContractRole, code: Hex): boolean {
  const { runtimeBytecode, immutables } = ARTIFACTS[role];
  return (
    size(code) === size(runtimeBytecode) && withWords(code, immutables, () => zeroHash) === runtimeBytecode
  );
}

function otherImmutables(role: ContractRole, { chainId, contracts }: CodeContext, code: Hex): string {
  const { immutables } = ARTIFACTS[role];
  const word = (variable: string) => {
    const [at = 0] = immutables[variable] ?? [];
    return slice(code, at, at + 32);
  };
  if (role === 'router') {
    const trusted = getAddress(slice(word('_trustedForwarder'), 12));
    return `a router of this build that trusts another forwarder (${trusted})`;
  }
  if (word('_name') !== immutableWords(chainId, contracts)._name) {
    return 'a forwarder of this build that signs under another name';
  }
  if (BigInt(word('_cachedChainId')) !== BigInt(chainId)) {
    return `a forwarder of this build that was made on chain ${BigInt(word('_cachedChainId'))}`;
  }
  return `a forwarder of this build that was made for ${getAddress(slice(word('_cachedThis'), 12))}`;
}

function withWords(code: Hex, immutables: Artifact['immutables'], wordOf: (variable: string) => Hex): Hex {
  let digits = code.slice(2);
  for (const [variable, places] of Object.entries(immutables)) {
    const word = wordOf(variable).slice(2).toLowerCase();
    for (const at of places) digits = digits.slice(0, at * 2) + word + digits.slice(at * 2 + word.length);
  }
  return `0x${digits}`;
}
