import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { AjvCompiler } from '@fastify/ajv-compiler';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../../../../test/harness/gateway.ts';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

interface Operation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly Record<string, unknown>[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly schema?: object;
    readonly example?: unknown;
  }[];
  readonly requestBody?: { readonly content: Record<string, { schema?: unknown }> };
  readonly responses: Record<
    string,
    { readonly description?: string; readonly content?: Record<string, { schema?: unknown }> }
  >;
}

describe('the OpenAPI description', () => {
  let gateway: TestGateway;
  let text: string;
  let operations: (Operation & { readonly where: string; readonly method: string; readonly path: string })[];
  // biome-ignore lint/suspicious/noExplicitAny: a document read by tests only.
  let description: any;

  beforeAll(async () => {
    gateway = await startGateway();
    ({ text, body: description } = await gateway.call('GET', '/api/v1/openapi.json', { key: null }));
    operations = Object.entries(description.paths as Record<string, Record<string, Operation>>).flatMap(
      ([path, methods]) =>
        Object.entries(methods).map(([method, operation]) => ({
          ...operation,
          method,
          path,
          where: `${method} ${path}`,
        })),
    );
  });
  afterAll(() => gateway?.stop());

  it('is served without a key, to any origin, and describes this version', async () => {
    const { status, headers } = await gateway.call('GET', '/api/v1/openapi.json', { key: null });
    expect([status, headers.get('access-control-allow-origin')]).toEqual([200, '*']);
    expect(description.openapi).toMatch(/^3\.1\./);
    expect(operations.length).toBeGreaterThan(15);
  });

  it('every operation has its own operationId, a summary, a known tag and a described success', () => {
    const ids = operations.map(({ operationId }) => operationId);
    expect(ids.filter((id, index) => id === undefined || ids.indexOf(id) !== index)).toEqual([]);
    const tags = description.tags.map(({ name }: { name: string }) => name);
    for (const { where, summary, tags: own = [], responses } of operations) {
      expect(summary?.length, where).toBeGreaterThan(3);
      expect(own.length, where).toBe(1);
      expect(tags, `${where}: tag ${own[0]} is not in the list of tags`).toContain(own[0]);
      expect(responses['200']?.content?.['application/json']?.schema, where).toBeDefined();
    }
  });

  it('every operation documents how it refuses: bad input, missing key, too many requests, failure', () => {
    for (const { where, path, security, responses } of operations.filter(({ path: at }) =>
      at.startsWith('/api/'),
    )) {
      for (const status of ['400', '429', '500'])
        expect(responses[status], `${where} ${status}`).toBeDefined();
      expect(security, `${where} does not say which key it takes`).toBeDefined();
      if (security?.length) expect(responses['401'], `${where} 401`).toBeDefined();
      if (/\{.*_?(id|uuid)\}/.test(path) && !path.includes('/webhooks/')) {
        expect(responses['404'] ?? responses['409'], `${where} 404`).toBeDefined();
      }
    }
  });

  /** Reveals are reads that leave an entry in the audit log; a whole record that is put again is the same record. */
  const REPEAT_SAFELY = new Set([
    'revealUser',
    'revealDocument',
    'revealRecipient',
    'revealProof',
    'revealFiatPayment',
    'putReferenceRecord',
  ]);

  it('every write of a partner, a vendor or an operator takes an Idempotency-Key, and says so', () => {
    for (const kind of ['partnerKey', 'vendorKey', 'operatorKey']) {
      const writes = operations.filter(
        ({ method, security, operationId = '' }) =>
          method !== 'get' && security?.some((scheme) => kind in scheme) && !REPEAT_SAFELY.has(operationId),
      );
      expect(writes.length, kind).toBeGreaterThan(5);
      for (const { where, parameters = [], responses } of writes) {
        const header = parameters.find(
          ({ name, in: place }) => place === 'header' && name === 'Idempotency-Key',
        );
        expect(header, `${where}: declare it with ${kind.replace('Key', 'Mutation')}`).toBeDefined();
        expect([responses['409'], responses['422']], where).not.toContain(undefined);
      }
    }
  });

  /** Every schema inside a schema that carries examples, with where it stands. */
  function exemplified(schema: unknown, at: string): { at: string; schema: { examples: unknown[] } }[] {
    if (schema === null || typeof schema !== 'object') return [];
    const own =
      'examples' in schema && Array.isArray(schema.examples)
        ? [{ at, schema: schema as { examples: unknown[] } }]
        : [];
    const inner = Object.entries(schema)
      .filter(([name]) => name !== 'examples')
      .flatMap(([name, value]) => exemplified(value, `${at}/${name}`));
    return [...own, ...inner];
  }

  it('what vendors and operators read and send is shown by examples, each valid where it stands', () => {
    const compile = AjvCompiler()({}, { customOptions: { strict: false, coerceTypes: false } } as never);
    const valid = (schema: object, example: unknown) =>
      (compile({ schema } as never) as unknown as (value: unknown) => boolean)(example);
    const schemasOf = (content: Record<string, { schema?: unknown }> | undefined) =>
      Object.values(content ?? {}).map(({ schema }) => schema);
    const problems: string[] = [];
    let checked = 0;
    for (const operation of operations.filter(({ tags }) => /Vendor|Operator/.test(tags?.[0] ?? ''))) {
      const { where, parameters = [], requestBody, responses } = operation;
      const answered = schemasOf(responses['200']?.content).flatMap((schema) => exemplified(schema, where));
      if (answered.length === 0) problems.push(`${where} has no example of its answer`);
      const sent = schemasOf(requestBody?.content).flatMap((schema) => exemplified(schema, `${where} body`));
      for (const { at, schema } of [...answered, ...sent]) {
        for (const example of schema.examples) {
          if (!valid(schema, example)) problems.push(`${at}: ${JSON.stringify(example)}`);
          checked += 1;
        }
      }
      for (const { name, in: place, schema = {}, example } of parameters) {
        if (place === 'header') continue;
        // The description moves the example of a parameter out of its schema.
        if (!valid(schema, example)) problems.push(`${where} ?${name}: ${JSON.stringify(example)}`);
        checked += 1;
      }
    }
    expect(problems).toEqual([]);
    expect(checked).toBeGreaterThan(300);
  });

  it('describes the events under webhooks, with their signature', () => {
    const events = Object.entries(description.webhooks as Record<string, { post: Operation }>);
    expect(events.map(([name]) => name)).toContain('order.status.changed');
    for (const [name, { post }] of events) {
      expect(
        post.parameters?.map((parameter) => parameter.name),
        name,
      ).toContain('X-Service-Signature');
    }
  });

  it('passes the linter, without a network', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'causeway-openapi-'));
    try {
      await writeFile(join(folder, 'openapi.json'), text);
      const redocly = join(ROOT, 'node_modules/@redocly/cli/bin/cli.js');
      const config = join(ROOT, 'redocly.yaml');
      const linted = await promisify(execFile)(
        process.execPath,
        [redocly, 'lint', '--config', config, '--format', 'stylish', join(folder, 'openapi.json')],
        // A proxy that is not there: a call to the outside would fail and show.
        {
          env: {
            PATH: process.env.PATH,
            HOME: folder,
            REDOCLY_TELEMETRY: 'off',
            REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
            HTTPS_PROXY: 'http://127.0.0.1:9',
            HTTP_PROXY: 'http://127.0.0.1:9',
          },
        },
      ).catch((error: { stdout: string; stderr: string }) => {
        throw new Error(`${error.stdout}\n${error.stderr}`);
      });
      expect(linted.stderr).toContain('is valid');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }, 60_000);
});
