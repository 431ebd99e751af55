import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { chooseEncoding, type PreparedAnswer, prepareBytes } from '../prepared-answer.ts';
import type { ApiDocument } from './api-operations.ts';
import { brunoCollection } from './bruno.ts';
import type { DocSet } from './doc-pages.ts';
import { renderHome } from './home.ts';
import { renderDocument, renderFrame } from './layout.ts';
import { llmsFull, llmsIndex } from './llms.ts';
import { postmanCollection } from './postman.ts';
import { renderReference, scalarScript } from './reference.ts';
import { isLocalCaller, type SandboxKeys } from './sandbox-keys.ts';
import { searchEntries } from './search-index.ts';
import { zip } from './zip.ts';

export interface DocsOptions {
  readonly baseUrl: string;
  readonly sandbox: boolean;
  /** Filled in for readers on this machine; never given in production. */
  readonly sandboxKeys?: SandboxKeys | undefined;
}

/**
 * The pages under /docs, what programs read of them, and `/`, which leads there. All of it is made from files of the
 * repository and from the API description, when it is first asked for, and kept: it does not change while the process runs.
 */
export function registerDocs(app: FastifyInstance, options: DocsOptions, describeApi: () => string): void {
  const files = docFiles(options, describeApi);
  const answer = async (request: FastifyRequest, reply: FastifyReply, path: string) => {
    reply.header('content-security-policy', path === '/docs/reference' ? REFERENCE_POLICY : PAGE_POLICY);
    reply.header('cross-origin-resource-policy', 'same-origin');
    const keys = isLocalCaller(request) ? options.sandboxKeys : undefined;
    const file = await files.find(path, keys);
    if (file === undefined) {
      const missing = await files.missing(path);
      return reply.code(404).type(HTML).send(missing);
    }
    return send(request, reply, file);
  };
  const page = { schema: { hide: true } as object };
  app.get('/', page, (_request, reply) => reply.redirect('/docs', 302));
  for (const path of ['/docs', '/llms.txt', '/llms-full.txt']) {
    app.get(path, page, (request, reply) => answer(request, reply, path));
  }
  app.get<{ Params: { '*': string } }>('/docs/*', page, (request, reply) => {
    const { '*': rest } = request.params;
    // The first page has both addresses: the longer one is where the reference used to be.
    if (rest === '') return answer(request, reply, '/docs');
    if (rest.endsWith('/')) return reply.redirect(`/docs/${rest}`.replace(/\/+$/, ''), 301);
    return answer(request, reply, `/docs/${rest}`);
  });
}

const HTML = 'text/html; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';
const TEXT = 'text/plain; charset=utf-8';
const MARKDOWN = 'text/markdown; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';

/** Everything comes from here, and nothing is written into the page that a browser would run. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
];
const PAGE_POLICY = [...POLICY, "style-src 'self'"].join('; ');
/** Scalar writes its styles into the page, and shows answers that are images or files. */
const REFERENCE_POLICY = [
  ...POLICY.filter((directive) => !directive.startsWith('img-src')),
  "img-src 'self' data: blob:",
  "style-src 'self' 'unsafe-inline'",
  "font-src 'self' data:",
].join('; ');

interface DocFile {
  readonly answer: PreparedAnswer;
  /** It names keys, and is stored nowhere. */
  readonly private: boolean;
}

function docFiles(options: DocsOptions, describeApi: () => string) {
  const { baseUrl, sandbox } = options;
  let docs: Promise<DocSet> | undefined;
  let api: ApiDocument | undefined;
  const made = new Map<string, Promise<DocFile | undefined>>();
  // Imported here only: a start does not wait for the renderer of Markdown.
  const loaded = () => {
    docs ??= import('./doc-pages.ts').then(({ loadDocs }) => loadDocs());
    return docs;
  };
  const described = () => {
    api ??= JSON.parse(describeApi()) as ApiDocument;
    return api;
  };

  /** What is served besides the documents: type and content by address. */
  const fixed: Readonly<
    Record<string, readonly [type: string, make: (keys?: SandboxKeys) => Promise<string | Buffer>]>
  > = {
    '/docs': [HTML, async () => renderHome((await loaded()).chapters, sandbox)],
    '/docs/reference': [
      HTML,
      async (keys) => renderReference((await loaded()).chapters, sandbox, described(), keys),
    ],
    '/docs/search.json': [
      JSON_TYPE,
      async () => JSON.stringify(await searchEntries(await loaded(), described())),
    ],
    '/docs/postman.json': [
      JSON_TYPE,
      async (keys) => JSON.stringify(postmanCollection(described(), baseUrl, keys), null, 2),
    ],
    '/docs/bruno.zip': ['application/zip', async (keys) => zip(brunoCollection(described(), baseUrl, keys))],
    '/llms.txt': [TEXT, async () => llmsIndex(await loaded(), described(), baseUrl)],
    '/llms-full.txt': [TEXT, async () => llmsFull(await loaded(), described(), baseUrl)],
    '/docs/assets/docs.css': ['text/css; charset=utf-8', asset('docs.css')],
    '/docs/assets/docs.js': [SCRIPT, asset('docs.js')],
    '/docs/assets/reference.js': [SCRIPT, asset('reference.js')],
    '/docs/assets/icon.svg': ['image/svg+xml', asset('icon.svg')],
    '/docs/assets/minisearch.js': [SCRIPT, () => readFile(fileURLToPath(import.meta.resolve('minisearch')))],
    '/docs/assets/scalar.js': [SCRIPT, scalarScript],
  };
  const withKeys = new Set(['/docs/reference', '/docs/postman.json', '/docs/bruno.zip']);

  async function make(path: string, keys: SandboxKeys | undefined): Promise<DocFile | undefined> {
    const [type, content] = fixed[path] ?? [];
    if (type !== undefined && content !== undefined) {
      return { answer: prepareBytes(Buffer.from(await content(keys)), type), private: keys !== undefined };
    }
    const picture = PICTURE.exec(path)?.[1];
    if (picture !== undefined) return pictureFile(picture);
    const { byUrl, chapters } = await loaded();
    const page = byUrl.get(path.replace(/\.md$/, ''));
    if (page === undefined) return undefined;
    const answer = path.endsWith('.md')
      ? prepareBytes(Buffer.from(page.source), MARKDOWN)
      : prepareBytes(Buffer.from(renderDocument(page, chapters, sandbox)), HTML);
    return { answer, private: false };
  }

  return {
    async find(path: string, callerKeys: SandboxKeys | undefined): Promise<DocFile | undefined> {
      const keys = withKeys.has(path) ? callerKeys : undefined;
      const name = `${path} ${keys === undefined ? '' : 'with keys'}`;
      const making = made.get(name) ?? make(path, keys);
      made.set(name, making);
      const file = await making.catch((error: unknown) => {
        made.delete(name);
        docs = undefined;
        throw error;
      });
      // Addresses that lead nowhere are without number.
      if (file === undefined) made.delete(name);
      return file;
    },
    async missing(path: string): Promise<string> {
      return renderFrame({
        title: 'Page not found',
        description: 'There is no such page.',
        url: path,
        chapters: (await loaded()).chapters,
        sandbox,
        layout: 'broad',
        main: '<article><h1>There is no such page</h1><p>It may have moved: look through the list of pages, or search.</p></article>',
      });
    },
  };
}

/** Of docs/images; names without dots lead nowhere else. */
const PICTURE = /^\/docs\/images\/((?:[a-z0-9-]+\/)*[a-z0-9-]+\.webp)$/;
const WEBP = 'image/webp';

async function pictureFile(name: string): Promise<DocFile | undefined> {
  const file = new URL(`../../../../../docs/images/${name}`, import.meta.url);
  const bytes = await readFile(file).catch(() => undefined);
  return bytes === undefined ? undefined : { answer: prepareBytes(bytes, WEBP), private: false };
}

function asset(name: string): () => Promise<Buffer> {
  return () => readFile(new URL(`assets/${name}`, import.meta.url));
}

async function send(
  request: FastifyRequest,
  reply: FastifyReply,
  { answer, private: isPrivate }: DocFile,
): Promise<FastifyReply> {
  const encoding = chooseEncoding(request.headers['accept-encoding'] ?? '');
  await answer.prepare(encoding);
  const variant = answer.variant(encoding);
  if (isPrivate) {
    const { etag: _, ...headers } = variant.headers;
    return reply.headers({ ...headers, 'cache-control': 'no-store' }).send(variant.body);
  }
  const matched = answer.matchingTag(request.headers['if-none-match'] ?? '');
  if (matched === undefined) return reply.headers(variant.headers).send(variant.body);
  const { 'cache-control': caching, vary } = variant.headers;
  return reply.code(304).headers({ 'cache-control': caching, vary, etag: matched }).send();
}
