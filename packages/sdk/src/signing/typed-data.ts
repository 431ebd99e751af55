import { type Address, concat, type Hex, keccak, keccakText, word } from './bytes.ts';

/** EIP-712 of the two things that are signed, built here and not taken from an answer. */
export interface TypedData {
  readonly domain: {
    readonly name?: string;
    readonly version?: string;
    readonly chainId: number;
    readonly verifyingContract: Address;
  };
  readonly types: Readonly<Record<string, readonly { readonly name: string; readonly type: string }[]>>;
  readonly primaryType: string;
  /** Numbers as decimal text, as JSON and every wallet takes them. */
  readonly message: Readonly<Record<string, string | number>>;
}

export const FORWARDER_NAME = 'CausewayForwarder';
export const FORWARDER_VERSION = '1';

export const FORWARD_REQUEST_TYPE = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'gas', type: 'uint256' },
  { name: 'nonce', type: 'uint256' },
  { name: 'deadline', type: 'uint48' },
  { name: 'data', type: 'bytes' },
] as const;

export const SAFE_TX_TYPE = [
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'data', type: 'bytes' },
  { name: 'operation', type: 'uint8' },
  { name: 'safeTxGas', type: 'uint256' },
  { name: 'baseGas', type: 'uint256' },
  { name: 'gasPrice', type: 'uint256' },
  { name: 'gasToken', type: 'address' },
  { name: 'refundReceiver', type: 'address' },
  { name: 'nonce', type: 'uint256' },
] as const;

/** What is signed in the end: 32 bytes. */
export function hashTypedData(typedData: TypedData): Hex {
  return typedDataHashes(typedData).digest;
}

/** As a wallet's own screen shows them, to be compared before one agrees there. */
export interface TypedDataHashes {
  readonly domain: Hex;
  readonly message: Hex;
  /** What is signed; of a Safe's transaction, its safeTxHash. */
  readonly digest: Hex;
}

export function typedDataHashes({ domain, types, primaryType, message }: TypedData): TypedDataHashes {
  const hashes = {
    domain: hashDomain(domain),
    message: hashStruct(primaryType, types[primaryType] ?? [], message),
  };
  return { ...hashes, digest: keccak(concat('0x1901', hashes.domain, hashes.message)) };
}

export const DOMAIN_FIELDS = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
] as const;

function hashDomain(domain: TypedData['domain']): Hex {
  const fields = DOMAIN_FIELDS.filter(({ name }) => domain[name] !== undefined);
  return hashStruct('EIP712Domain', fields, domain as Readonly<Record<string, string | number>>);
}

function hashStruct(
  name: string,
  fields: readonly { readonly name: string; readonly type: string }[],
  values: Readonly<Record<string, string | number>>,
): Hex {
  const type = `${name}(${fields.map((field) => `${field.type} ${field.name}`).join(',')})`;
  const words = fields.map((field) => encode(field.type, values[field.name] ?? ''));
  return keccak(concat(keccakText(type), ...words));
}

function encode(type: string, value: string | number): Hex {
  switch (type) {
    case 'address':
      return word(value as Address);
    case 'bytes':
      return keccak(value as Hex);
    case 'string':
      return keccakText(`${value}`);
    default:
      return word(BigInt(value));
  }
}
