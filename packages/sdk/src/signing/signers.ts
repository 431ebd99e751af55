import { secp256k1 } from '@noble/curves/secp256k1.js';
import {
  type Address,
  bytesToHex,
  checksumAddress,
  type Hex,
  hexToBytes,
  isAddress,
  keccak,
} from './bytes.ts';
import { DOMAIN_FIELDS, hashTypedData, type TypedData } from './typed-data.ts';

/** A wallet, whatever keeps its key. */
export interface Signer {
  readonly address: Address;
  /** 65 bytes (r, s, v), 64 (r, s) or DER. */
  signTypedData(typedData: TypedData): Promise<Hex | Uint8Array>;
}

/**
 * A key in memory: for sandboxes and tests.
 *
 * @example const signer = privateKeySigner('0x…');
 */
export function privateKeySigner(privateKey: string): Signer {
  const key = hexToBytes(privateKey as Hex);
  if (!secp256k1.utils.isValidSecretKey(key)) throw new TypeError('a private key has 32 bytes');
  return {
    address: addressOfPublicKey(secp256k1.getPublicKey(key, false)),
    async signTypedData(typedData) {
      const digest = hexToBytes(hashTypedData(typedData));
      const signature = secp256k1.sign(digest, key, { prehash: false, format: 'recovered' });
      return concatBytes(signature.subarray(1), Uint8Array.of(27 + (signature[0] ?? 0)));
    },
  };
}

interface ViemAccountLike {
  readonly address: string;
  // biome-ignore lint/suspicious/noExplicitAny: viem infers the message's type from the types that it is given.
  signTypedData?: ((parameters: any) => Promise<string>) | undefined;
}

/**
 * A viem account that can sign (`privateKeyToAccount`, `mnemonicToAccount`, `toAccount`).
 *
 * @example const signer = viemSigner(privateKeyToAccount(key));
 */
export function viemSigner(account: ViemAccountLike): Signer {
  return {
    address: addressOf(account.address),
    async signTypedData(typedData) {
      if (account.signTypedData === undefined)
        throw new TypeError('this viem account cannot sign typed data');
      return (await account.signTypedData(withBigInts(typedData))) as Hex;
    },
  };
}

interface EthersSignerLike {
  getAddress(): Promise<string>;
  // biome-ignore lint/suspicious/noExplicitAny: as ethers declares them.
  signTypedData?(domain: any, types: any, value: any): Promise<string>;
  /** ethers 5 */
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  _signTypedData?(domain: any, types: any, value: any): Promise<string>;
}

/**
 * A signer of ethers 6 or 5.
 *
 * @example const signer = await ethersSigner(new Wallet(key));
 */
export async function ethersSigner(signer: EthersSignerLike): Promise<Signer> {
  const sign = (signer.signTypedData ?? signer._signTypedData)?.bind(signer);
  if (sign === undefined) throw new TypeError('this ethers signer cannot sign typed data');
  return {
    address: addressOf(await signer.getAddress()),
    signTypedData: async ({ domain, types, message }) => (await sign(domain, types, message)) as Hex,
  };
}

interface Eip1193ProviderLike {
  // biome-ignore lint/suspicious/noExplicitAny: providers declare the methods they know.
  request(call: any): Promise<unknown>;
}

/**
 * A wallet of a browser, or anything else that answers `eth_signTypedData_v4`. It shows your customer's staff what they sign.
 *
 * @example const signer = eip1193Signer(window.ethereum, '0x…');
 */
export function eip1193Signer(provider: Eip1193ProviderLike, address: string): Signer {
  return {
    address: addressOf(address),
    async signTypedData(typedData) {
      const { domain, types } = typedData;
      const fields = DOMAIN_FIELDS.filter(({ name }) => domain[name] !== undefined);
      const text = JSON.stringify({ ...typedData, types: { EIP712Domain: fields, ...types } });
      const params = [address, text];
      return (await provider.request({ method: 'eth_signTypedData_v4', params })) as Hex;
    },
  };
}

/**
 * A key that never leaves its vault (AWS KMS, Google Cloud KMS, an HSM): gets the 32 bytes to sign as they are, not to be
 * hashed again. DER, r and s, or r, s and v come back.
 *
 * @example
 * const signer = kmsSigner('0x…', async (digest) => {
 *   const { Signature } = await kms.send(new SignCommand({ KeyId, Message: digest, MessageType: 'DIGEST', SigningAlgorithm: 'ECDSA_SHA_256' }));
 *   return Signature;
 * });
 */
export function kmsSigner(
  address: string,
  sign: (digest: Uint8Array, typedData: TypedData) => Promise<Uint8Array | Hex>,
): Signer {
  return {
    address: addressOf(address),
    signTypedData: (typedData) => sign(hexToBytes(hashTypedData(typedData)), typedData),
  };
}

/**
 * r, s and v as forwarder and Safe take them, if this wallet made it; undefined otherwise. The mirrored form of a signature,
 * which some vaults make, is turned into the one that contracts accept.
 */
export function canonicalSignature(given: Hex | Uint8Array, digest: Hex, signer: Address): Hex | undefined {
  const compact = compactOf(typeof given === 'string' ? hexToBytes(given) : given);
  if (compact === undefined) return undefined;
  for (const recovery of [0, 1]) {
    try {
      const recovered = concatBytes(Uint8Array.of(recovery), compact);
      const key = secp256k1.recoverPublicKey(recovered, hexToBytes(digest), { prehash: false });
      const publicKey = secp256k1.Point.fromBytes(key).toBytes(false);
      if (addressOfPublicKey(publicKey).toLowerCase() === signer.toLowerCase()) {
        return bytesToHex(concatBytes(compact, Uint8Array.of(27 + recovery)));
      }
    } catch {
      // No key can have made it with this half of the curve.
    }
  }
  return undefined;
}

/** r and s, s in the lower half. */
function compactOf(bytes: Uint8Array): Uint8Array | undefined {
  try {
    const isDer = bytes[0] === 0x30 && bytes.length !== 64 && bytes.length !== 65;
    const signature = isDer
      ? secp256k1.Signature.fromBytes(bytes, 'der')
      : secp256k1.Signature.fromBytes(bytes.subarray(0, 64), 'compact');
    if (!isDer && bytes.length !== 64 && bytes.length !== 65) return undefined;
    const { r, s } = signature;
    const order = secp256k1.Point.Fn.ORDER;
    return new secp256k1.Signature(r, s > order / 2n ? order - s : s).toBytes('compact');
  } catch {
    return undefined;
  }
}

function addressOfPublicKey(uncompressed: Uint8Array): Address {
  return checksumAddress(`0x${keccak(bytesToHex(uncompressed.subarray(1))).slice(-40)}`);
}

function addressOf(text: string): Address {
  if (!isAddress(text)) throw new TypeError('an address has 20 bytes');
  return checksumAddress(text);
}

/** viem compares numbers with their types, and takes the wide ones as bigint. */
function withBigInts(typedData: TypedData): object {
  const fields = typedData.types[typedData.primaryType] ?? [];
  const message = Object.fromEntries(
    fields.map(({ name, type }) => {
      const value = typedData.message[name];
      if (!type.startsWith('uint') || value === undefined) return [name, value];
      return [name, type === 'uint256' ? BigInt(value) : Number(value)];
    }),
  );
  return { ...typedData, message };
}

function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
