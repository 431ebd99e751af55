import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerWidgetPages } from '../../apps/gateway/src/features/widget/widget-page.routes.ts';
import { buildWidget } from '../../apps/widget/build.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';

/** What the gateway serves to browsers under /widget: which headers, to whom, and who may frame it. */
let gateway: TestGateway;
let production: FastifyInstance;
const keys = () => gateway.partners.map(({ widgetKey }) => widgetKey) as [string, string];
const read = (path: string, headers: Record<string, string> = {}) =>
  gateway.call('GET', path, { key: null, headers });
/** The pages as they would be outside a sandbox. */
const readProduction = (url: string) => production.inject({ method: 'GET', url });

async function setOrigins(widgetKey: string, origins: readonly string[]): Promise<void> {
  const owner = await gateway.deps.principals.find(widgetKey);
  if (owner?.kind !== 'widget') throw new Error('no such key');
  const path = `/api/v1/operator/partners/${owner.partnerId}/widget-origins`;
  const answer = await gateway.call('PUT', path, { key: gateway.sandbox.operatorKey, body: { origins } });
  expect(answer.status, answer.text).toBe(200);
  await gateway.deps.principals.refresh();
}

function directive(policy: unknown, name: string): string | undefined {
  return String(policy)
    .split('; ')
    .find((part) => part.startsWith(`${name} `))
    ?.slice(name.length + 1);
}

function pageData(html: string) {
  const [, json] = /<script type="application\/json" id="causeway">(.*?)<\/script>/s.exec(html) ?? [];
  return JSON.parse(json ?? 'null');
}

beforeAll(async () => {
  gateway = await startGateway();
  production = Fastify();
  registerWidgetPages(production, { ...gateway.deps, sandbox: false });
  await setOrigins(keys()[0], ['https://shop.example', 'https://*.shops.example']);
  await setOrigins(keys()[1], ['https://other.example']);
});
afterAll(async () => {
  await production?.close();
  await gateway?.stop();
});

describe('the frame', () => {
  it('may be framed by the partner’s own origins, and in a sandbox by pages on the machine itself', async () => {
    const [key] = keys();
    const { status, headers, text } = await read(`/widget/frame?key=${key}`);
    expect(status).toBe(200);
    expect(directive(headers.get('content-security-policy'), 'frame-ancestors')).toBe(
      "https://shop.example https://*.shops.example http://localhost:* http://127.0.0.1:* 'self'",
    );
    expect(headers.has('x-frame-options')).toBe(false);
    expect(pageData(text)).toEqual({
      kind: 'frame',
      widgetKey: key,
      sessionId: null,
      origins: [
        'https://shop.example',
        'https://*.shops.example',
        'http://localhost:*',
        'http://127.0.0.1:*',
        "'self'",
      ],
    });
  });

  it('of one partner does not name the origins of another, nor the machine itself outside a sandbox', async () => {
    const [first, second] = keys();
    const one = await readProduction(`/widget/frame?key=${first}`);
    const other = await readProduction(`/widget/frame?key=${second}`);
    const ancestors = (answer: typeof one) =>
      directive(answer.headers['content-security-policy'], 'frame-ancestors');
    expect(ancestors(one)).toBe("https://shop.example https://*.shops.example 'self'");
    expect(ancestors(other)).toBe("https://other.example 'self'");
  });

  it('runs nothing but its own files, sets no cookie, tells no referrer and is stored nowhere', async () => {
    const { headers, text } = await read(`/widget/frame?key=${keys()[0]}`);
    const policy = headers.get('content-security-policy');
    const expected = {
      'default-src': "'none'",
      'script-src': "'self'",
      'style-src': "'self'",
      'connect-src': "'self'",
      'base-uri': "'none'",
      'form-action': "'none'",
      'require-trusted-types-for': "'script'",
    };
    for (const [name, value] of Object.entries(expected)) expect(directive(policy, name), name).toBe(value);
    expect(policy).not.toMatch(/unsafe|\*\s*;|https:\s/);
    expect(headers.get('permissions-policy')).toMatch(/camera=\(self\).*microphone=\(\)/);
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.has('set-cookie')).toBe(false);
    // The only script in the page is data; the others are files.
    expect(text.match(/<script(?! type="application\/json")[^>]*>/g)).toEqual([
      expect.stringMatching(/ src="\/widget\/assets\/app-[\w-]+\.js"/),
    ]);
    expect(text).not.toMatch(/<style|style="| on\w+="/);
  });

  it('of a server-made session lists the origins of its partner and holds no code', async () => {
    const made = await gateway.call('POST', '/api/v1/partner/widget-sessions', { body: {} });
    const { session_id: id, url } = made.body.data;
    const code = new URL(url).hash.slice(1);
    expect(new URL(url).pathname).toBe('/widget/checkout');
    const { status, headers, text } = await read(`/widget/frame?session=${id}`);
    expect(status).toBe(200);
    expect(directive(headers.get('content-security-policy'), 'frame-ancestors')).toMatch(
      /^https:\/\/shop\.example /,
    );
    expect(pageData(text)).toMatchObject({ widgetKey: null, sessionId: id });
    expect(text).not.toContain(code);
  });
});

describe('a page of its own', () => {
  it('is never framed', async () => {
    const { status, headers, text } = await read(`/widget/checkout?key=${keys()[0]}`);
    expect(status).toBe(200);
    expect(directive(headers.get('content-security-policy'), 'frame-ancestors')).toBe("'none'");
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(pageData(text)).toMatchObject({ kind: 'page', origins: [] });
  });

  it.each([
    ['no key', ''],
    ['an unknown key', '?key=cw_widget_00000000000000000000000000000000'],
    ['a key of another class', '?key=secret'],
    ['an unknown session', '?session=0199aa9f-2f6e-7c41-9d0e-6b1f5a3c2d10'],
    ['a session that is no id', "?session='"],
    ['two keys', '?key=a&key=b'],
    ['a key and a session', '?key=widget&session=0199aa9f-2f6e-7c41-9d0e-6b1f5a3c2d10'],
    ['markup', '?key=%3Cscript%3Ealert(1)%3C/script%3E'],
  ])('with %s says so, frame or page, and nobody may frame that', async (_what, query) => {
    const [{ widgetKey, apiKey }] = gateway.partners;
    const real = query.replace('key=secret', `key=${apiKey}`).replace('key=widget', `key=${widgetKey}`);
    for (const page of ['frame', 'checkout']) {
      const { status, headers, text } = await read(`/widget/${page}${real}`);
      expect(status).toBe(404);
      expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(directive(headers.get('content-security-policy'), 'frame-ancestors')).toBe("'none'");
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(text).toContain('This link does not work');
      expect(text).not.toMatch(/<script|alert\(1\)|cw_(test|widget)_/);
    }
  });

  it('of a key that was revoked is gone', async () => {
    const owner = await gateway.deps.principals.find(keys()[1]);
    if (owner?.kind !== 'widget') throw new Error('no such key');
    const issued = await gateway.call('POST', `/api/v1/operator/partners/${owner.partnerId}/keys`, {
      key: gateway.sandbox.operatorKey,
      body: { kind: 'widget' },
    });
    expect(issued.status, issued.text).toBe(200);
    const { key, key_id: keyId } = issued.body.data;
    await gateway.deps.principals.refresh();
    expect((await read(`/widget/frame?key=${key}`)).status).toBe(200);
    const revoked = await gateway.call('DELETE', `/api/v1/operator/keys/${keyId}`, {
      key: gateway.sandbox.operatorKey,
    });
    expect(revoked.status, revoked.text).toBe(200);
    await gateway.deps.principals.refresh();
    expect((await read(`/widget/frame?key=${key}`)).status).toBe(404);
  });
});

describe('files', () => {
  it('the loader is open to every page, kept for minutes and compared by its tag', async () => {
    const first = await read('/widget/v1.js', { origin: 'https://shop.example', 'accept-encoding': 'gzip' });
    expect(first.status).toBe(200);
    expect(first.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(first.headers.get('access-control-allow-origin')).toBe('*');
    expect(first.headers.get('cross-origin-resource-policy')).toBe('cross-origin');
    expect(first.headers.get('cache-control')).toMatch(/^public, max-age=300/);
    expect(first.headers.get('content-encoding')).toBe('gzip');
    const again = await read('/widget/v1.js', { 'if-none-match': first.headers.get('etag') ?? '' });
    expect(again.status).toBe(304);
  });

  it('what has its content in its name is kept for good; nothing else of the folder or the disk is given', async () => {
    const { script, styles, preload } = await buildWidget();
    for (const name of [script, styles, ...preload]) {
      const { status, headers } = await read(`/widget/assets/${name}`);
      expect(status, name).toBe(200);
      expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
    }
    for (const name of [
      'manifest.json',
      'nothing-12345678.js',
      '..%2F..%2Fpackage.json',
      '%2e%2e/build.ts',
      '',
    ]) {
      expect((await read(`/widget/assets/${name}`)).status, name).toBe(404);
    }
  });
});

describe('the playground', () => {
  const secretsIn = (text: string) => gateway.partners.some(({ apiKey }) => text.includes(apiKey));

  it('has the keys for readers on this machine only, and is stored nowhere', async () => {
    const local = await read('/widget/playground');
    expect(local.status).toBe(200);
    expect(secretsIn(local.text)).toBe(true);
    expect(local.headers.get('cache-control')).toBe('no-store');
    expect(local.headers.get('x-frame-options')).toBe('DENY');
    expect(directive(local.headers.get('content-security-policy'), 'script-src')).toBe("'self'");
    const proxied = await read('/widget/playground', { 'x-forwarded-for': '203.0.113.7' });
    expect(proxied.status).toBe(200);
    expect(secretsIn(proxied.text)).toBe(false);
    expect(pageData(proxied.text)).toMatchObject({ partnerKey: null, widgetKey: null });
  });

  it('passes to a chain only what its test wallet needs, and only from this machine', async () => {
    const rpc = (method: string, headers: Record<string, string> = {}) =>
      gateway.call('POST', '/widget/playground/rpc/base-mainnet', {
        key: null,
        headers,
        body: { method, params: [] },
      });
    for (const method of ['hardhat_setBalance', 'eth_sendTransaction', 'evm_increaseTime']) {
      expect((await rpc(method)).status, method).toBe(403);
    }
    expect((await rpc('eth_chainId', { forwarded: 'for=203.0.113.7' })).status).toBe(403);
  });
});
