import { createPrivateKey, createPublicKey } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseSignature } from 'viem';
import type { Hex } from '../chain-settings.ts';
import type { TestWallet } from './local-chain.ts';

/** A key service that signs digests with one key for callers that have its token. */
export async function startKeyService(wallet: TestWallet, token: string) {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (request.headers.authorization !== `Bearer ${token}`) {
      response.writeHead(401).end();
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' });
    if (request.url?.endsWith('/public-key')) {
      response.end(JSON.stringify({ public_key: spkiOf(wallet.privateKey).toString('base64') }));
      return;
    }
    const asked = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { digest: string };
    const hash: Hex = `0x${Buffer.from(asked.digest, 'base64').toString('hex')}`;
    const { r, s } = parseSignature(await wallet.signDigest(hash));
    response.end(JSON.stringify({ signature: derOf(BigInt(r), BigInt(s)).toString('base64') }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export function derOf(r: bigint, s: bigint): Buffer {
  const integer = (value: bigint) => {
    const hex = value.toString(16);
    const even = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex');
    const bytes = (even[0] ?? 0) & 0x80 ? Buffer.concat([Buffer.of(0), even]) : even;
    return Buffer.concat([Buffer.of(0x02, bytes.length), bytes]);
  };
  const body = Buffer.concat([integer(r), integer(s)]);
  return Buffer.concat([Buffer.of(0x30, body.length), body]);
}

/** SEC1 without the public part; OpenSSL computes that itself. */
export function spkiOf(privateKey: Hex): Buffer {
  const sec1 = Buffer.from(`302e0201010420${privateKey.slice(2)}a00706052b8104000a`, 'hex');
  const key = createPrivateKey({ key: sec1, format: 'der', type: 'sec1' });
  return createPublicKey(key).export({ format: 'der', type: 'spki' });
}
