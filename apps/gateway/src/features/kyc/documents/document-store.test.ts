import { createHash, createHmac } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DocumentStore } from '../../../ports/documents.ts';
import { createLocalDiskDocuments, createS3Documents, signRequest } from './document-stores.ts';

const KEY = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'a secret', region: 'eu-central-1' };
const ID = '0199aa9f-2f6e-7c41-9d0e-6b1f5a3c2d10';

/** A store that keeps objects in memory and, like the real ones, believes nothing that is not signed. */
function startS3(): Promise<{ server: Server; endpoint: string; objects: Map<string, Buffer> }> {
  const objects = new Map<string, Buffer>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const path = request.url ?? '';
    if (!isSigned(request, body)) return response.writeHead(403).end('<Code>SignatureDoesNotMatch</Code>');
    if (request.method === 'PUT') objects.set(path, body);
    if (request.method === 'DELETE') {
      objects.delete(path);
      return response.writeHead(204).end();
    }
    const object = objects.get(path);
    return object === undefined ? response.writeHead(404).end() : response.writeHead(200).end(object);
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      resolve({ server, endpoint: `http://127.0.0.1:${port}`, objects });
    });
  });
}

function isSigned(request: IncomingMessage, body: Buffer): boolean {
  const { authorization = '', host = '' } = request.headers;
  const date = String(request.headers['x-amz-date']);
  const hash = createHash('sha256').update(body).digest('hex');
  if (request.headers['x-amz-content-sha256'] !== hash) return false;
  const names = 'host;x-amz-content-sha256;x-amz-date';
  const canonical = `${request.method}\n${request.url}\n\nhost:${host}\nx-amz-content-sha256:${hash}\nx-amz-date:${date}\n\n${names}\n${hash}`;
  const scope = `${date.slice(0, 8)}/${KEY.region}/s3/aws4_request`;
  const text = `AWS4-HMAC-SHA256\n${date}\n${scope}\n${createHash('sha256').update(canonical).digest('hex')}`;
  let key: Buffer | string = `AWS4${KEY.secretAccessKey}`;
  for (const part of scope.split('/')) key = createHmac('sha256', key).update(part).digest();
  const signature = createHmac('sha256', key).update(text).digest('hex');
  return authorization.endsWith(
    `Credential=${KEY.accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
  );
}

describe('document stores', () => {
  let folder: string;
  let s3: Awaited<ReturnType<typeof startS3>>;
  const stores: Record<string, () => DocumentStore> = {
    'local disk': () => createLocalDiskDocuments(folder),
    'S3-compatible': () =>
      createS3Documents({ ...KEY, endpoint: s3.endpoint, bucket: 'kyc', now: () => new Date() }),
  };
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'causeway-documents-'));
    s3 = await startS3();
  });
  afterAll(async () => {
    s3.server.close();
    await rm(folder, { recursive: true });
  });

  it.each(Object.keys(stores))(
    '%s gives back what was put, and nothing after it was deleted',
    async (name) => {
      const store = stores[name]!();
      const sealed = Buffer.from([0, 255, 1, 2, 3]);
      expect(await store.get(ID)).toBeUndefined();
      await store.put(ID, sealed);
      await store.put(ID, sealed);
      expect(await store.get(ID)).toEqual(sealed);
      await store.delete(ID);
      await store.delete(ID);
      expect(await store.get(ID)).toBeUndefined();
    },
  );

  it.each(Object.keys(stores))('%s takes no name that could lead elsewhere', async (name) => {
    await expect(stores[name]!().put('../../etc/passwd', Buffer.alloc(1))).rejects.toThrow(
      'not a document id',
    );
  });

  it('says that a store refused without repeating what it wrote', async () => {
    const stranger = createS3Documents({
      ...KEY,
      secretAccessKey: 'another',
      endpoint: s3.endpoint,
      bucket: 'kyc',
      now: () => new Date(),
    });
    await expect(stranger.put(ID, Buffer.alloc(4))).rejects.toThrow(
      /^the document store answered PUT with 403$/,
    );
  });

  it('signs as the published example of Signature Version 4 for S3 does', async () => {
    const headers = await signRequest(
      {
        method: 'GET',
        url: new URL('https://examplebucket.s3.amazonaws.com/?lifecycle='),
        body: new Uint8Array(),
      },
      {
        accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
        secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
        region: 'us-east-1',
      },
      new Date('2013-05-24T00:00:00.000Z'),
    );
    expect(headers.authorization).toContain(
      'Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
    );
  });
});
