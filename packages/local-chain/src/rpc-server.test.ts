import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LocalChain } from './local-chain.ts';
import { type RpcServer, serveRpc } from './rpc-server.ts';

let chain: LocalChain;
let server: RpcServer;

beforeAll(async () => {
  chain = await LocalChain.open({ chainId: 3_135_023 });
  server = await serveRpc(chain);
});

afterAll(async () => {
  await server.close();
  await server.close();
  await chain.close();
  await chain.close();
});

/** By node:http, because fetch does not let a caller set Host or Origin. */
function post(
  body: string,
  headers: Record<string, string> = {},
  method = 'POST',
): Promise<{ status: number; body: unknown }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(server.url, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
    });
    outgoing.once('error', reject);
    outgoing.once('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, body: text === '' ? undefined : JSON.parse(text) });
      });
    });
    outgoing.end(body);
  });
}

const call = (method: string, params: unknown[] = [], id: unknown = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});

describe('JSON-RPC over HTTP', () => {
  it('answers a call and a batch, each with its id, and a failing call fails alone', async () => {
    expect(await post(JSON.stringify(call('eth_chainId', [], 'a')))).toEqual({
      status: 200,
      body: { jsonrpc: '2.0', id: 'a', result: `0x${(3_135_023).toString(16)}` },
    });
    const batch = [call('eth_blockNumber', [], 1), call('nonsense', [], 2), call('net_version', [], 3)];
    const { body } = await post(JSON.stringify(batch));
    expect(body).toMatchObject([{ id: 1, result: '0x0' }, { id: 2, error: { code: -32_601 } }, { id: 3 }]);
  });

  it('says nothing to notifications', async () => {
    const { id: _none, ...notification } = call('eth_chainId');
    expect(await post(JSON.stringify([notification]))).toEqual({ status: 204, body: undefined });
  });

  it.each([
    ['no JSON', '{', -32_700],
    ['no method', '{"id":1}', -32_600],
    ['nothing', 'null', -32_600],
    ['params that are no array', '{"id":1,"method":"eth_call","params":{}}', -32_600],
    ['an empty batch', '[]', -32_600],
    ['a batch of thousands', JSON.stringify(Array(1_001).fill(call('eth_chainId'))), -32_600],
    ['params that do not fit', JSON.stringify(call('eth_getBalance', ['nobody'])), -32_602],
  ])('refuses %s with its code and stays up', async (_case, body, code) => {
    expect((await post(body)).body).toMatchObject({ error: { code } });
  });

  it('refuses a body without end', async () => {
    const large = JSON.stringify(call('web3_sha3', [`0x${'00'.repeat(6 * 1024 * 1024)}`]));
    expect((await post(large)).status).toBe(413);
    expect((await post(large, { 'transfer-encoding': 'chunked' })).status).toBe(413);
  });

  it('refuses web pages, other host names and other methods, but not wallets', async () => {
    const body = JSON.stringify(call('eth_chainId'));
    expect((await post(body, { origin: 'https://evil.example' })).status).toBe(403);
    expect((await post(body, { origin: 'http://localhost:3000' })).status).toBe(403);
    expect((await post(body, { host: 'rebound.example' })).status).toBe(403);
    expect((await post(body, {}, 'PUT')).status).toBe(405);
    expect((await post(body, { origin: 'chrome-extension://wallet' })).status).toBe(200);
    expect((await post(body, { host: 'localhost:1' })).status).toBe(200);
  });

  it('answers what was asked before it closes', async () => {
    const begun = Promise.withResolvers<void>();
    const closing = Promise.withResolvers<void>();
    const other = await serveRpc({
      async request(method, params) {
        begun.resolve();
        await closing.promise;
        return chain.request(method, params);
      },
    });
    const asked = fetch(other.url, { method: 'POST', body: JSON.stringify(call('eth_blockNumber')) });
    await begun.promise;
    const closed = other.close();
    closing.resolve();
    expect(await (await asked).json()).toMatchObject({ result: '0x0' });
    await closed;
    await expect(fetch(other.url)).rejects.toThrow();
  });

  it('moves to a free port when the preferred one is taken', async () => {
    const other = await serveRpc(chain, { preferredPort: server.port });
    expect(other.port).not.toBe(server.port);
    await other.close();
    const again = await serveRpc(chain, { preferredPort: other.port });
    expect(again.port).toBe(other.port);
    await again.close();
  });
});
