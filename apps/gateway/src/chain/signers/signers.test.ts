import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { parseSignature } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Hex } from '../chain-settings.ts';
import { derOf, spkiOf } from '../testing/key-service.ts';
import { randomWallet } from '../testing/local-chain.ts';
import { KeystoreError, openKeystore, sealKeystore } from './keystore-signer.ts';
import { compactFromDer, connectRemoteSigner, RemoteSignerError } from './remote-signer.ts';
import { CURVE_ORDER, recoverSigner } from './signature.ts';

const digest: Hex = `0x${'a7'.repeat(32)}`;
// The standard cost is for one start of a process, not for every test.
const cheap = { n: 1024, r: 8, p: 1 };

describe('a keystore file', () => {
  test('opens with its password and signs as the key in it, which it does not show', async () => {
    const wallet = randomWallet();
    const sealed = await sealKeystore(wallet.privateKey, 'correct horse', cheap);
    expect(sealed.toLowerCase()).not.toContain(wallet.privateKey.slice(2));
    const signer = await openKeystore(sealed, 'correct horse');
    expect(signer.address).toBe(wallet.address);
    expect(await signer.signDigest(digest)).toBe(await wallet.signDigest(digest));
  });

  test('opens where geth made it', async () => {
    const fromGeth = JSON.stringify({
      address: '7ef5a6135f1fd6a02593eedc869c6d41d934aef8',
      crypto: {
        cipher: 'aes-128-ctr',
        ciphertext: '1d0839166e7a15b9c1333fc865d69858b22df26815ccf601b28219b6192974e1',
        cipherparams: { iv: '8df6caa7ff1b00c4e871f002cb7921ed' },
        kdf: 'scrypt',
        kdfparams: {
          dklen: 32,
          n: 8,
          p: 16,
          r: 8,
          salt: 'e5e6ef3f4ea695f496b643ebd3f75c0aa58ef4070e90c80c5d3fb0241bf1595c',
        },
        mac: '6d16dfde774845e4585357f24bce530528bc69f4f84e1e22880d34fa45c273e5',
      },
      id: '950077c7-71e3-4c44-a4a1-143919141ed4',
      version: 3,
    });
    const signer = await openKeystore(fromGeth, 'foobar');
    expect(signer.address).toBe('0x7EF5A6135f1FD6a02593eEdC869c6D41D934aef8');
  });

  test('stays shut for a wrong password and after any change', async () => {
    const sealed = await sealKeystore(randomWallet().privateKey, 'right', cheap);
    await expect(openKeystore(sealed, 'wrong')).rejects.toThrow('the password does not open');
    const keystore = JSON.parse(sealed);
    const swapped = { ...keystore, address: randomWallet().address.slice(2) };
    await expect(openKeystore(JSON.stringify(swapped), 'right')).rejects.toThrow('another address');
    keystore.crypto.ciphertext = `00${keystore.crypto.ciphertext.slice(2)}`;
    await expect(openKeystore(JSON.stringify(keystore), 'right')).rejects.toThrow(KeystoreError);
  });

  test.each([
    ['no JSON', 'private'],
    ['another version', '{"version":1}'],
    ['no crypto', '{"version":3}'],
  ])('with %s is refused without being quoted', async (_name, text) => {
    await expect(openKeystore(text, 'x')).rejects.toThrow(KeystoreError);
    await expect(openKeystore(text, 'x')).rejects.not.toThrow(text);
  });

  test('that asks for more than a gigabyte, or for the impossible, is refused', async () => {
    const keystore = JSON.parse(await sealKeystore(randomWallet().privateKey, 'right', cheap));
    keystore.crypto.kdfparams.n = 2 ** 24;
    await expect(openKeystore(JSON.stringify(keystore), 'right')).rejects.toThrow('too much memory');
    keystore.crypto.kdfparams.n = 1_000;
    await expect(openKeystore(JSON.stringify(keystore), 'right')).rejects.toThrow('impossible derivation');
  });
});

describe('a key service', () => {
  const wallet = randomWallet();
  const token = 'kms-access-token';
  let server: Server;
  let url: string;
  let mirrorsS = false;
  let signsWith = wallet;
  let answers: ((operation: string) => { status: number; body: string }) | undefined;

  beforeAll(async () => {
    server = createServer(async (request, response) => {
      const operation = request.url?.split('/').at(-1) ?? '';
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      if (request.headers.authorization !== `Bearer ${token}`) {
        response.writeHead(401).end();
        return;
      }
      if (answers !== undefined) {
        const { status, body } = answers(operation);
        response.writeHead(status).end(body);
        return;
      }
      response.writeHead(200, { 'content-type': 'application/json' });
      if (operation === 'public-key') {
        response.end(JSON.stringify({ public_key: spkiOf(wallet.privateKey).toString('base64') }));
        return;
      }
      const asked = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { digest: string };
      const hash = `0x${Buffer.from(asked.digest, 'base64').toString('hex')}` as Hex;
      const { r, s } = parseSignature(await signsWith.signDigest(hash));
      const der = derOf(BigInt(r), mirrorsS ? CURVE_ORDER - BigInt(s) : BigInt(s));
      response.end(JSON.stringify({ signature: der.toString('base64') }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret-path`;
  });
  beforeEach(() => {
    mirrorsS = false;
    signsWith = wallet;
    answers = undefined;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const connect = (others = {}) =>
    connectRemoteSigner({ url, keyId: 'escrow/1', accessToken: token, ...others });

  test.each([
    ['lower', false],
    ['upper', true],
  ])('that answers the %s s signs digests the chain accepts', async (_name, mirrored) => {
    mirrorsS = mirrored;
    const signer = await connect({ address: wallet.address });
    expect(signer.address).toBe(wallet.address);
    for (let round = 0; round < 8; round++) {
      const hash: Hex = `0x${round.toString(16).padStart(64, 'd')}`;
      expect(await signer.signDigest(hash)).toBe(await wallet.signDigest(hash));
    }
  });

  test('with another key than the configured address is not used', async () => {
    await expect(connect({ address: randomWallet().address })).rejects.toThrow('another address');
  });

  test('that signs with another key than it showed is found out', async () => {
    const signer = await connect();
    signsWith = randomWallet();
    await expect(signer.signDigest(digest)).rejects.toThrow('with another key');
  });

  test.each([
    ['refuses', 403, 'no'],
    ['answers no JSON', 200, 'hello'],
    ['answers another shape', 200, '{"signature":7}'],
    ['answers a cut-off signature', 200, '{"signature":"MEUC"}'],
    ['answers without end', 200, 'x'.repeat(100_000)],
  ])('that %s is an error without its address, token or answer', async (_name, status, body) => {
    const signer = await connect();
    answers = () => ({ status, body });
    const error = await signer.signDigest(digest).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(RemoteSignerError);
    expect(String(error)).not.toContain('secret-path');
    expect(String(error)).not.toContain(token);
    if (body.length > 3) expect(String(error)).not.toContain(body);
  });

  test('that is not there is an error that says so', async () => {
    const error = await connectRemoteSigner({ url: 'http://127.0.0.1:9/secret-path', keyId: 'x' }).catch(
      (caught: unknown) => caught,
    );
    expect(String(error)).toBe('RemoteSignerError: the key service does not answer (ECONNREFUSED)');
  });
});

describe('a DER signature', () => {
  test('reads back as its numbers, s in the lower half', () => {
    const numbers = fc.bigInt({ min: 1n, max: CURVE_ORDER - 1n });
    fc.assert(
      fc.property(numbers, numbers, (r, s) => {
        const read = compactFromDer(derOf(r, s));
        expect(BigInt(read.r)).toBe(r);
        expect([s, CURVE_ORDER - s]).toContain(BigInt(read.s));
        expect(BigInt(read.s)).toBeLessThanOrEqual(CURVE_ORDER / 2n);
      }),
    );
  });

  test('with anything else in it is refused', () => {
    const good = derOf(5n, 7n);
    expect(() => compactFromDer(Buffer.concat([good, Buffer.of(0)]))).toThrow('left bytes');
    for (let length = 0; length < good.length; length++) {
      expect(() => compactFromDer(good.subarray(0, length))).toThrow();
    }
    expect(() => compactFromDer(derOf(0n, 7n))).toThrow('invalid');
    expect(() => compactFromDer(derOf(CURVE_ORDER, 7n))).toThrow('expected valid');
  });

  test('is checked against the digest by recovery', async () => {
    const wallet = randomWallet();
    expect(recoverSigner(digest, await wallet.signDigest(digest))).toBe(wallet.address);
  });
});
