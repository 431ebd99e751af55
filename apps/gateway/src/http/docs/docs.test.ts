import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { crc32 } from 'node:zlib';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../../../../../test/harness/gateway.ts';
import { createApi } from '../../api.ts';
import { loadDocs } from './doc-pages.ts';

const ROOT = fileURLToPath(new URL('../../../../../', import.meta.url));

interface PostmanItem {
  readonly name: string;
  readonly item?: readonly PostmanItem[];
  readonly request?: {
    readonly method: string;
    readonly url: {
      readonly raw: string;
      readonly host: string[];
      readonly path: string[];
      readonly variable?: { key: string; value: string }[];
    };
    readonly auth: { readonly type: string; readonly apikey?: { key: string; value: string }[] };
    readonly body?: { readonly mode: string; readonly raw?: string };
  };
}

describe('the documentation', () => {
  let gateway: TestGateway;
  let production: FastifyInstance;
  let sandbox: FastifyInstance;
  let version: string;
  /** `METHOD /path` of every operation, and the key it takes. */
  let operations: Map<string, { id: string; scheme: string | undefined }>;

  const read = (path: string, headers: Record<string, string> = {}) =>
    gateway.call('GET', path, { key: null, headers });

  beforeAll(async () => {
    gateway = await startGateway();
    // Asked without a socket: what a caller from elsewhere or behind a proxy gets cannot be tried from this machine.
    sandbox = (await createApi(gateway.deps, gateway.baseUrl)).app;
    production = (await createApi({ ...gateway.deps, sandbox: false }, gateway.baseUrl)).app;
    version = JSON.parse(await readFile(`${ROOT}package.json`, 'utf8')).version;
    const { body } = await read('/api/v1/openapi.json');
    operations = new Map(
      Object.entries(
        body.paths as Record<string, Record<string, { operationId: string; security: object[] }>>,
      ).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, { operationId, security }]) => [
          `${method.toUpperCase()} ${path}`,
          { id: operationId, scheme: Object.keys(security?.[0] ?? {})[0] },
        ]),
      ),
    );
    expect(operations.size).toBeGreaterThan(100);
  });
  afterAll(async () => {
    await sandbox?.close();
    await production?.close();
    await gateway?.stop();
  });

  it('is where / leads, with the version of the package and an icon of its own', async () => {
    const root = await read('/');
    expect([root.status, root.headers.get('location')]).toEqual([302, '/docs']);
    const page = await read('/docs');
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.text).toContain('<title>Causeway documentation</title>');
    expect(page.text).toContain(`v${version}<`);
    // The interface has a version of its own, which additions leave as it is.
    expect((await read('/api/v1/openapi.json')).body.info).toMatchObject({
      version: '1.0.0',
      'x-release': version,
    });
    const icon = await read('/docs/assets/icon.svg');
    expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
    expect(page.text).toContain('<link rel="icon" href="/docs/assets/icon.svg"');
  });

  it('lists every guide and every table once, with a title', async () => {
    const { text } = await read('/docs');
    const nav = text.slice(text.indexOf('id="pages"'), text.indexOf('</nav>', text.indexOf('id="pages"')));
    const listed = [...nav.matchAll(/href="([^"]+)"[^>]*>([^<]+)</g)];
    const urls = listed.map(([, url]) => url);
    expect(new Set(urls).size).toBe(urls.length);
    for (const folder of ['guides', 'reference']) {
      for (const file of (await readdir(`${ROOT}docs/${folder}`)).filter((name) => name.endsWith('.md'))) {
        expect(urls, `docs/${folder}/${file}`).toContain(`/docs/${folder}/${file.replace('.md', '')}`);
      }
    }
    for (const [, url, label] of listed) expect(label?.length, url).toBeGreaterThan(2);
  });

  it('lists a file that the order does not name after those that it names', async () => {
    const root = await mkdtemp(join(tmpdir(), 'causeway-docs-'));
    try {
      for (const folder of ['guides', 'reference', 'decisions']) {
        await mkdir(join(root, 'docs', folder), { recursive: true });
      }
      const text =
        '# A new guide: and more\n\nWhat it is *about*. [Old](operating.md#x), [code](../../src/x.ts).\n\n## A\n\n## A\n';
      for (const file of [
        'README.md',
        'docs/architecture.md',
        'docs/threat-model.md',
        'docs/guides/a-new-one.md',
        'docs/guides/operating.md',
      ]) {
        await writeFile(join(root, file), text);
      }
      const { chapters, byUrl } = await loadDocs(root);
      const run = chapters.find(({ title }) => title === 'Run')?.pages ?? [];
      expect(run.map(({ url }) => url)).toEqual(['/docs/guides/operating', '/docs/guides/a-new-one']);
      const page = byUrl.get('/docs/guides/a-new-one');
      expect(page).toMatchObject({ title: 'A new guide: and more', label: 'A new guide' });
      expect(page?.lead).toBe('What it is about. Old, code.');
      expect(page?.render().html).toContain('<a href="/docs/guides/operating#x">Old</a>, code.');
      expect(page?.render().headings.map(({ id }) => id)).toEqual(['a', 'a-1']);
    } finally {
      await rm(root, { recursive: true, force: true });
    }
  });

  it('every link in every page leads to a page, and every anchor to its heading', async () => {
    const pages = new Map<string, string>();
    const wanted = ['/docs'];
    const problems: string[] = [];
    for (let path = wanted.pop(); path !== undefined; path = wanted.pop()) {
      if (pages.has(path)) continue;
      const page = await read(path);
      if (page.status !== 200) problems.push(`${path}: ${page.status}`);
      const isHtml = page.headers.get('content-type')?.startsWith('text/html');
      pages.set(path, isHtml ? page.text : '');
      if (!isHtml) continue;
      for (const [, href = ''] of page.text.matchAll(/<a [^>]*href="([^"]+)"/g)) {
        if (!/^https?:/.test(href)) wanted.push(href.startsWith('#') ? path : (href.split('#')[0] ?? ''));
      }
    }
    for (const [path, text] of pages) {
      for (const [, href = ''] of text.matchAll(/<a [^>]*href="([^"]*#[^"]+)"/g)) {
        const [target, anchor = ''] = href.split('#');
        const id = decodeURIComponent(anchor);
        if (/^https?:/.test(href) || target === '/docs/reference') continue;
        if (!pages.get(target === '' ? path : (target ?? ''))?.includes(`id="${id}"`)) {
          problems.push(`${path} → ${href}`);
        }
      }
    }
    expect(problems).toEqual([]);
    expect(pages.size).toBeGreaterThan(40);
  });

  it('as Markdown, the first page leads to pages that are served', async () => {
    const { text } = await read('/docs/getting-started.md');
    const paths = [...text.matchAll(/\]\((\/docs\/[^)#]+\.md)/g)].map(([, path = '']) => path);
    expect(paths.length).toBeGreaterThan(20);
    for (const path of paths) expect((await read(path)).status, path).toBe(200);
  });

  it('shows the pictures of the repository, and nothing beside them', async () => {
    const { text } = await read('/docs/guides/widget-screens');
    const pictures = [...text.matchAll(/<img src="([^"]+)" alt="[^"]+"/g)].map(([, source = '']) => source);
    expect(pictures.length).toBeGreaterThan(50);
    const shown = await read(pictures[0] ?? '');
    expect([shown.status, shown.headers.get('content-type')]).toEqual([200, 'image/webp']);
    for (const missing of ['widget/none.webp', '../../package.json', 'widget/..%2f..%2fREADME.md']) {
      expect((await read(`/docs/images/${missing}`)).status, missing).toBe(404);
    }
  });

  it('runs no script and takes no style that is not its own, and may not be framed', async () => {
    for (const path of ['/docs', '/docs/guides/orders', '/docs/reference/errors', '/docs/no-such-page']) {
      const { headers, text } = await read(path);
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'; script-src 'self';");
      expect(policy).toContain("style-src 'self'");
      expect(policy).not.toContain('unsafe');
      expect([headers.get('x-frame-options'), headers.get('x-content-type-options')]).toEqual([
        'DENY',
        'nosniff',
      ]);
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(text).not.toMatch(/<script(?![^>]*src=)(?![^>]*application\/json)|<style|\son\w+=|\sstyle=/);
    }
    const { headers } = await read('/docs/reference');
    expect(headers.get('content-security-policy')).toContain("script-src 'self';");
    expect(headers.get('content-security-policy')).not.toContain('unsafe-eval');
  });

  it('answers a page again only if it changed, compressed where that is taken, and a page for no page', async () => {
    const page = await read('/docs/guides/orders', { 'accept-encoding': 'br' });
    const etag = page.headers.get('etag') ?? '';
    expect(page.headers.get('content-encoding')).toBe('br');
    const again = await read('/docs/guides/orders', { 'if-none-match': etag });
    expect([again.status, again.text]).toEqual([304, '']);
    const missing = await read('/docs/guides/nothing');
    expect([missing.status, missing.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    const slash = await read('/docs/guides/orders/');
    expect([slash.status, slash.headers.get('location')]).toEqual([301, '/docs/guides/orders']);
    for (const path of [
      '/docs/../package.json',
      '/docs/..%2fpackage.json',
      '/docs/assets/..%2fdocs.routes.ts',
    ]) {
      expect((await sandbox.inject(path)).statusCode, path).toBe(404);
    }
  });

  it('the reference page needs nothing from elsewhere: its scripts and styles are served here', async () => {
    const page = await read('/docs/reference');
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.text).toContain('/api/v1/openapi.json');
    const sources = [...page.text.matchAll(/<(?:script|link|img)[^>]*(?:src|href)="([^"]+)"/g)].map(
      (match) => match[1] ?? '',
    );
    expect(sources).toContain('/docs/assets/scalar.js');
    for (const source of sources) {
      expect(source, 'an address elsewhere').toMatch(/^\/docs\//);
      expect((await read(source)).status, source).toBe(200);
    }
    const script = await read('/docs/assets/scalar.js');
    expect(script.headers.get('content-type')).toContain('javascript');
    expect(script.text.length).toBeGreaterThan(100_000);
    expect(page.text.replaceAll(/https?:\/\/127\.0\.0\.1[^"]*/g, '')).not.toMatch(/https?:\/\//);
  });

  it('fills in keys for a reader on the machine of a sandbox, and for no other', async () => {
    const [partner] = gateway.partners;
    const keys = [
      partner.apiKey,
      partner.widgetKey,
      gateway.sandbox.vendors[0]?.apiKey,
      gateway.sandbox.operatorKey,
    ];
    const paths = ['/docs/reference', '/docs/postman.json', '/docs/bruno.zip'];
    const held = async (app: FastifyInstance, url: string, more: InjectOptions = {}) => {
      const { payload, headers } = await app.inject({ url, headers: { host: 'localhost:8080' }, ...more });
      expect(headers['access-control-allow-origin'], url).toBeUndefined();
      expect(headers['cross-origin-resource-policy'], url).toBe('same-origin');
      const found = keys.filter((key) => payload.includes(key ?? 'none')).length;
      if (found > 0) expect([headers['cache-control'], headers.etag], url).toEqual(['no-store', undefined]);
      return found;
    };
    for (const path of paths) {
      expect(await held(sandbox, path), path).toBe(4);
      expect(await held(sandbox, path, { remoteAddress: '::ffff:127.0.0.1' }), path).toBe(4);
      expect(await held(sandbox, path, { remoteAddress: '192.168.1.20' }), path).toBe(0);
      // A name of another site that was pointed at this machine, and what comes through a proxy or a tunnel.
      for (const host of ['evil.example:8080', 'localhost.evil.example', '127.0.0.1.evil.example']) {
        expect(await held(sandbox, path, { headers: { host } }), `${path} ${host}`).toBe(0);
      }
      for (const name of ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip']) {
        const headers = { host: 'localhost', [name]: '203.0.113.7' };
        expect(await held(sandbox, path, { headers }), `${path} ${name}`).toBe(0);
      }
      expect(await held(production, path), path).toBe(0);
    }
    // Once with keys and once without: neither is answered for the other.
    expect(await held(sandbox, '/docs/reference')).toBe(4);
    for (const path of ['/docs', '/docs/search.json', '/llms-full.txt', '/docs/assets/reference.js']) {
      expect(await held(sandbox, path), path).toBe(0);
    }
  });

  it('can be searched: an entry for each section and each operation', async () => {
    const { body } = await read('/docs/search.json');
    const entries = body as { kind: string; url: string; title: string; method?: string; text: string }[];
    const found = entries.filter(({ kind }) => kind === 'operation');
    expect(found).toHaveLength(operations.size);
    expect(found.map(({ url }) => url)).toContain(
      '/docs/reference#tag/on-ramp/POST/api/v1/partner/onramp/quote',
    );
    expect(entries.find(({ url }) => url === '/docs/guides/orders#off-ramp-crypto-to-fiat')?.kind).toBe(
      'guide',
    );
  });

  it('llms.txt has the form of llmstxt.org, and its links lead to text; llms-full.txt has all of it', async () => {
    const { text, headers } = await read('/llms.txt');
    expect(headers.get('content-type')).toContain('text/plain');
    const lines = text.split('\n');
    expect(lines[0]).toBe('# Causeway');
    expect(lines.find((line) => line !== '' && line !== lines[0])).toMatch(/^> /);
    const links = lines.filter((line) => line.startsWith('- '));
    expect(links.length).toBeGreaterThan(15);
    for (const line of links) {
      const url = /^- \[[^\]]+\]\(([^)]+)\): \S/.exec(line)?.[1] ?? '';
      expect(url.startsWith(gateway.baseUrl), line).toBe(true);
      const answer = await read(url.slice(gateway.baseUrl.length));
      expect(answer.status, line).toBe(200);
      if (url.endsWith('.md')) expect(answer.text, url).toMatch(/^# /);
    }
    const full = (await read('/llms-full.txt')).text;
    for (const operation of operations.keys()) expect(full).toContain(`### ${operation}\n`);
    expect(full).toContain(
      await readFile(`${ROOT}docs/guides/orders.md`, 'utf8').then((guide) => guide.trim()),
    );
  });

  it('the Postman collection has every operation once, with its key and a body that is JSON', async () => {
    const { body } = await read('/docs/postman.json');
    expect(body.info.schema).toBe('https://schema.getpostman.com/json/collection/v2.1.0/collection.json');
    const variables = new Set((body.variable as { key: string }[]).map(({ key }) => key));
    expect([...variables]).toEqual([
      'base_url',
      'partner_key',
      'widget_key',
      'session_key',
      'vendor_key',
      'operator_key',
    ]);
    const requests = (body.item as PostmanItem[]).flatMap(({ item = [] }) => item);
    const seen = requests.map(({ request }) => {
      const path = (request?.url.path ?? []).map((part) => part.replace(/^:(.+)$/, '{$1}')).join('/');
      const name = `${request?.method} /${path}`;
      const scheme = operations.get(name)?.scheme;
      const key = request?.auth.apikey?.find((entry) => entry.key === 'value')?.value;
      expect(key, name).toBe(scheme === undefined ? undefined : `{{${/^[a-z]+/.exec(scheme)?.[0]}_key}}`);
      expect(request?.url.host).toEqual(['{{base_url}}']);
      const parameters = [...path.matchAll(/\{(.+?)\}/g)].map(([, parameter]) => parameter);
      expect(request?.url.variable?.map((variable) => variable.key) ?? [], name).toEqual(parameters);
      if (request?.body?.mode === 'raw')
        expect(() => JSON.parse(request.body?.raw ?? ''), name).not.toThrow();
      for (const [, variable = ''] of JSON.stringify(request).matchAll(/\{\{(\w+)\}\}/g)) {
        expect(variables, name).toContain(variable);
      }
      return name;
    });
    expect(seen.toSorted()).toEqual([...operations.keys()].toSorted());
  });

  it('the Bruno collection is a folder with a file an operation, whole and readable', async () => {
    const { rawPayload } = await sandbox.inject({ url: '/docs/bruno.zip', remoteAddress: '192.168.1.20' });
    const files = unzip(rawPayload);
    expect(JSON.parse(files.get('causeway/bruno.json') ?? '').type).toBe('collection');
    expect(files.get('causeway/environments/Causeway.bru')).toContain('vars:secret [\n  partner_key');
    const requests = [...files].filter(
      ([path]) => !/(bruno\.json|collection\.bru|folder\.bru|Causeway\.bru)$/.test(path),
    );
    const seen = requests.map(([path, text]) => {
      const [, method = '', url = ''] =
        /^(get|post|put|patch|delete) \{\n {2}url: \{\{base_url\}\}([^?\n]+)/m.exec(text) ?? [];
      expect(text, path).toMatch(/^meta \{\n {2}name: .+\n {2}type: http\n {2}seq: \d+\n\}/);
      return `${method.toUpperCase()} ${url.replaceAll(/:(\w+)/g, '{$1}')}`;
    });
    expect(seen.toSorted()).toEqual([...operations.keys()].toSorted());
    expect(requests.map(([path]) => path.replace(/^.*\/|\.bru$/g, '')).toSorted()).toEqual(
      [...operations.values()].map(({ id }) => id).toSorted(),
    );
  });
});

/** Reads what a zip file lists, and checks each part against its sum. */
function unzip(bytes: Buffer): Map<string, string> {
  const end = bytes.length - 22;
  expect(bytes.readUInt32LE(end)).toBe(0x06054b50);
  const files = new Map<string, string>();
  let at = bytes.readUInt32LE(end + 16);
  for (let count = bytes.readUInt16LE(end + 10); count > 0; count--) {
    expect(bytes.readUInt32LE(at)).toBe(0x02014b50);
    const [sum, size, nameLength, start] = [16, 20, 28, 42].map((field) =>
      field === 28 ? bytes.readUInt16LE(at + field) : bytes.readUInt32LE(at + field),
    ) as [number, number, number, number];
    const name = bytes.toString('utf8', at + 46, at + 46 + nameLength);
    expect(bytes.readUInt32LE(start)).toBe(0x04034b50);
    const data = bytes.subarray(start + 30 + nameLength, start + 30 + nameLength + size);
    expect(crc32(data), name).toBe(sum);
    files.set(name, data.toString());
    at += 46 + nameLength;
  }
  return files;
}
