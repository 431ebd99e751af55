import fc from 'fast-check';
import { getAddress, hashTypedData, recoverAddress, recoverTypedDataAddress, serializeSignature } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { describe, expect, test } from 'vitest';
import { forwardTypedData, hashForwardRequest } from '../authorization/forward-request.ts';
import type { Address, Hex } from '../chain-settings.ts';
import { localSigner } from './keystore-signer.ts';
import {
  CURVE_ORDER,
  canonicalSignature,
  InvalidSignatureError,
  isSignedBy,
  recoverSigner,
} from './signature.ts';

const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(hexOf);
const privateKey = fc.bigInt({ min: 1n, max: CURVE_ORDER - 1n }).map((key) => wordOf(key));
const digest: Hex = `0x${'5a'.repeat(32)}`;
const signer = localSigner(`0x${'17'.repeat(32)}`);

// Signing in JavaScript takes milliseconds, so these are few; the seed of a failure is printed.
const runs = { numRuns: 40 };

describe('recovering a signer', () => {
  test('finds the signer, as viem does', async () => {
    await fc.assert(
      fc.asyncProperty(privateKey, bytes32, async (key, hash) => {
        const account = privateKeyToAccount(key);
        const signature = await account.sign({ hash });
        expect(recoverSigner(hash, signature)).toBe(account.address);
        expect(await recoverAddress({ hash, signature })).toBe(account.address);
      }),
      runs,
    );
  });

  test('agrees with viem on made-up signatures, refusals included', async () => {
    const anySignature = fc
      .tuple(fc.bigInt({ min: 1n, max: CURVE_ORDER - 1n }), fc.bigInt({ min: 1n, max: CURVE_ORDER / 2n }))
      .map(([r, s]) => ({ r: wordOf(r), s: wordOf(s) }));
    await fc.assert(
      fc.asyncProperty(anySignature, fc.integer({ min: 0, max: 1 }), bytes32, async (rs, yParity, hash) => {
        const signature = serializeSignature({ ...rs, yParity });
        const expected = await recoverAddress({ hash, signature }).catch(() => undefined);
        expect(signerOrRefusal(hash, signature)).toBe(expected);
      }),
      runs,
    );
  });

  test('a forward request hashes as EIP-712 has it, whatever is in it', () => {
    const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => getAddress(hexOf(bytes)));
    const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
    const request = fc.record({
      from: address,
      to: address,
      value: uint256,
      gas: uint256,
      nonce: uint256,
      deadline: fc.integer({ min: 0, max: 2 ** 48 - 1 }),
      data: fc.uint8Array({ maxLength: 300 }).map(hexOf),
    });
    fc.assert(
      fc.property(fc.integer({ min: 1 }), address, request, (chainId, forwarder, given) => {
        const context = { chainId, contracts: contractsAt(forwarder) };
        expect(hashForwardRequest(context, given)).toBe(hashTypedData(forwardTypedData(context, given)));
      }),
    );
  });

  test('an EIP-712 forward request recovers to the same address as with viem', async () => {
    const account = privateKeyToAccount(`0x${'21'.repeat(32)}`);
    const address: Address = account.address;
    const context = {
      chainId: 7,
      contracts: contractsAt(address),
    };
    const request = {
      from: address,
      to: address,
      value: 0n,
      gas: 200_000n,
      nonce: 4n,
      deadline: 1_900_000_000,
      data: '0x1234' as Hex,
    };
    const typed = forwardTypedData(context, request);
    const signature = await account.signTypedData(typed);
    expect(recoverSigner(hashForwardRequest(context, request), signature)).toBe(
      await recoverTypedDataAddress({ ...typed, signature }),
    );
  });
});

describe('a signature is read strictly', () => {
  test('v of 0 and 1 means the same as 27 and 28, and is written as 27 and 28', async () => {
    // Digests enough for both halves of the curve.
    const seen = new Set<string>();
    for (let count = 1n; count <= 16n; count += 1n) {
      const one = wordOf(count);
      const signature = await signer.signDigest(one);
      const bit = Number.parseInt(signature.slice(-2), 16) - 27;
      const old = `${signature.slice(0, -2)}0${bit}` as Hex;
      seen.add(old.slice(-2));
      expect(recoverSigner(one, old)).toBe(signer.address);
      expect(canonicalSignature(old)).toBe(signature);
      expect(canonicalSignature(`0x${signature.slice(2).toUpperCase()}`)).toBe(signature);
      expect(isSignedBy(signer.address, one, `${signature}zz`), 'more behind it').toBe(false);
    }
    expect([...seen].sort()).toEqual(['00', '01']);
  });

  test('the mirrored form of a good signature is refused, though it recovers to the same key', async () => {
    const signature = await signer.signDigest(digest);
    const mirrored = mirror(signature);
    expect(await recoverAddress({ hash: digest, signature: mirrored })).toBe(signer.address);
    expect(() => recoverSigner(digest, mirrored)).toThrow(InvalidSignatureError);
    expect(isSignedBy(signer.address, digest, mirrored)).toBe(false);
  });

  test.each([
    ['empty', '0x'],
    ['64 bytes', `0x${'11'.repeat(64)}`],
    ['66 bytes', `0x${'11'.repeat(66)}`],
    ['not hexadecimal', `0x${'zz'.repeat(65)}`],
    ['r is zero', `0x${'00'.repeat(32)}${'11'.repeat(32)}1b`],
    ['r is the curve order', `${wordOf(CURVE_ORDER)}${'11'.repeat(32)}1b`],
    ['something before it', `00${'0x'}${'11'.repeat(64)}1b`],
    ['r above the curve order', `${wordOf(CURVE_ORDER + 1n)}${'11'.repeat(32)}1b`],
    ['s just in the upper half', `0x${'11'.repeat(32)}${wordOf(CURVE_ORDER / 2n + 1n).slice(2)}1b`],
    ['s is zero', `0x${'11'.repeat(32)}${'00'.repeat(32)}1b`],
    ['v is 2', `0x${'11'.repeat(64)}02`],
    ['v is 29', `0x${'11'.repeat(64)}1d`],
    ['v carries a chain id', `0x${'11'.repeat(64)}25`],
  ])('%s is no signature', (_name, malformed) => {
    expect(() => recoverSigner(digest, malformed as Hex)).toThrow(InvalidSignatureError);
    expect(() => canonicalSignature(malformed as Hex)).toThrow(InvalidSignatureError);
    expect(isSignedBy(signer.address, digest, malformed as Hex)).toBe(false);
  });

  test('the largest r and s that there are pass the reading, whatever key they lead to', () => {
    const largest = `${wordOf(CURVE_ORDER - 1n)}${wordOf(CURVE_ORDER / 2n).slice(2)}1b` as Hex;
    expect(canonicalSignature(largest)).toBe(largest);
    const smallest = `${wordOf(1n)}${wordOf(1n).slice(2)}1c` as Hex;
    expect(canonicalSignature(smallest)).toBe(smallest);
  });

  test('a signature that no key can have made is refused as such, and other faults are not hidden', async () => {
    // No point of the curve has this x: r is in range, and nothing can be recovered from it.
    const impossible = `${wordOf(5n)}${wordOf(1n).slice(2)}1b` as Hex;
    expect(() => recoverSigner(digest, impossible)).toThrow('no key can have made the signature');
    // s times the point r is the digest's own point, so that the key would be no point at all.
    const generator = '79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798';
    const nowhere = `0x${generator}${wordOf(2n).slice(2)}1b` as Hex;
    expect(() => recoverSigner(wordOf(2n), nowhere)).toThrow('no key can have made the signature');
    expect(recoverSigner(wordOf(3n), nowhere)).toMatch(/^0x[0-9a-fA-F]{40}$/);
    const signature = await signer.signDigest(digest);
    expect(() => isSignedBy('0x1234', digest, signature)).toThrow('invalid');
  });

  test('a good signature of another digest is not this one', async () => {
    const signature = await signer.signDigest(digest);
    expect(isSignedBy(signer.address, digest, signature)).toBe(true);
    expect(isSignedBy(signer.address, `0x${'5b'.repeat(32)}`, signature)).toBe(false);
  });
});

function contractsAt(address: Address) {
  return {
    safeSingleton: address,
    safeProxyFactory: address,
    multiSendCallOnly: address,
    fallbackHandler: address,
    forwarder: address,
    router: address,
  };
}

function mirror(signature: Hex): Hex {
  const s = CURVE_ORDER - BigInt(`0x${signature.slice(66, 130)}`);
  const v = signature.endsWith('1b') ? '1c' : '1b';
  return `${signature.slice(0, 66)}${wordOf(s).slice(2)}${v}` as Hex;
}

function wordOf(value: bigint): Hex {
  return `0x${value.toString(16).padStart(64, '0')}`;
}

function hexOf(bytes: Uint8Array): Hex {
  return `0x${Buffer.from(bytes).toString('hex')}`;
}

function signerOrRefusal(hash: Hex, signature: Hex): Address | undefined {
  try {
    return recoverSigner(hash, signature);
  } catch (error) {
    if (!(error instanceof InvalidSignatureError)) throw error;
    return undefined;
  }
}
