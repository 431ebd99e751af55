import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ERROR_CODES, errorEntry } from '@causeway/protocol';
import { AjvCompiler } from '@fastify/ajv-compiler';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dereference } from '../../../../test/harness/api-description.ts';
import { startGateway, type TestGateway } from '../../../../test/harness/gateway.ts';
import { canonical } from './openapi/components.ts';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

/** Without names it had twice as many. */
const MAX_CHARACTERS = 850_000;
/** Two shapes may be alike by chance. */
const UNNAMED_AT_MOST = 2;

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
  /** With its references. */
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  let written: any;

  beforeAll(async () => {
    gateway = await startGateway();
    const served = await gateway.call('GET', '/api/v1/openapi.json', { key: null });
    text = served.text;
    written = served.body;
    description = dereference(served.body);
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
      const { 'application/json': json, 'text/csv': csv } = responses['200']?.content ?? {};
      expect((json ?? csv)?.schema, where).toBeDefined();
    }
  });

  // Proves C4, C9 rule 1.
  it('every path of the API begins with its version', () => {
    const elsewhere = operations.map(({ path }) => path).filter((path) => !path.startsWith('/api/v1/'));
    expect([...new Set(elsewhere)].sort()).toEqual(['/health', '/ready']);
  });

  // Proves C4.9 rules 3 and 5.
  it('fiat accounts are issued and read: nothing moves money out of them', () => {
    const ofPartners = operations.filter(({ path }) => /^\/api\/v1\/partner\/.*fiat-accounts/.test(path));
    expect(
      ofPartners.map(({ where }) => where.replace(/\{[^}]+\}/g, '{}').replace('/api/v1/partner', '')).sort(),
    ).toEqual([
      'get /exports/fiat-accounts/{}.csv',
      'get /fiat-accounts/config',
      'get /users/{}/fiat-accounts',
      'get /users/{}/fiat-accounts/{}',
      'get /users/{}/fiat-accounts/{}/ledger',
      'get /users/{}/fiat-accounts/{}/payments',
      'post /users/{}/fiat-accounts',
    ]);
  });

  // Proves C7 rule 3.
  it('no operation answers a code that was retired', () => {
    const retired = ERROR_CODES.filter((code) => errorEntry(code).retired);
    expect(retired).toContain('RECIPIENT_UNVERIFIABLE');
    const named = operations.filter((operation) => {
      const refusals = JSON.stringify(operation.responses);
      return retired.some((code) => refusals.includes(`"${code}"`));
    });
    expect(named.map(({ where }) => where)).toEqual([]);
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
    'revealDisputeStatements',
    'revealFiatPayment',
    'putReferenceRecord',
  ]);

  // Proves D4.1.
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

  /** Every schema with fields or words that stands in the description, with where. */
  function shapes(value: unknown, at: string): { at: string; schema: Record<string, unknown> }[] {
    if (value === null || typeof value !== 'object') return [];
    const schema = value as Record<string, unknown>;
    const hasFields = Object.keys(schema.properties ?? {}).length > 0;
    return [
      ...(hasFields || Array.isArray(schema.enum) ? [{ at, schema }] : []),
      ...Object.entries(schema)
        .filter(([name]) => name !== 'example' && name !== 'examples')
        .flatMap(([name, part]) => shapes(part, `${at}/${name}`)),
    ];
  }

  it('names its shapes, parameters, headers and refusals, and writes each of them once', () => {
    expect(text.length).toBeLessThan(MAX_CHARACTERS);
    const { schemas, responses, parameters, headers } = written.components;
    for (const name of ['Order', 'OrderResponse', 'OrderStatus', 'UserInput', 'OrderStatusChangedEvent']) {
      expect(schemas).toHaveProperty(name);
    }
    for (const name of ['Unauthorized', 'ValidationError', 'RateLimited'])
      expect(responses).toHaveProperty(name);
    expect(parameters).toMatchObject({ IdempotencyKey: { in: 'header' }, OrderId: { in: 'path' } });
    expect(headers).toHaveProperty('X-Request-Id');

    const byShape = new Map<string, string[]>();
    for (const { at, schema } of shapes(written, '#')) {
      const { description: _text, examples: _examples, ...shape } = schema;
      const key = canonical(shape);
      byShape.set(key, [...(byShape.get(key) ?? []), at]);
    }
    const repeated = [...byShape.values()].filter((places) => places.length > UNNAMED_AT_MOST);
    expect(repeated, 'export the shape from wire/, which names it').toEqual([]);
    const bodies = operations.flatMap(({ requestBody, responses: answers }) => [requestBody, answers['200']]);
    expect(bodies.length).toBeGreaterThan(200);
    const inline = shapes(written.paths, '#/paths').filter(({ schema }) => 'properties' in schema);
    expect(inline.map(({ at }) => at)).toEqual([]);
  });

  // Proves D8.4, D8.10.
  it('says what each word of a list means', () => {
    const unexplained = shapes(written, '#').filter(({ at, schema }) => {
      const words = (schema.enum as string[] | undefined) ?? [];
      const meanings = schema['x-enum-descriptions'] as string[] | undefined;
      const isExplained =
        meanings?.length === words.length && meanings.every((meaning) => meaning.length > 3);
      // What can happen to an order is explained by the page of states.
      return words.length > 2 && !isExplained && !at.endsWith('OrderStep/properties/fact');
    });
    expect(
      unexplained.map(({ at }) => at),
      'add it to NAMED_ENUMS',
    ).toEqual([]);
    for (const name of ['OrderStatus', 'KycStatus', 'PartnerEventType', 'ErrorCode']) {
      expect(written.components.schemas[name]['x-enum-descriptions'], name).toBeDefined();
    }
  });

  it('shows a request for every body and an answer for every operation', () => {
    for (const { where, requestBody, responses } of operations) {
      if (requestBody) expect(requestBody.content['application/json'], where).toHaveProperty('example');
      const [answer] = Object.values(responses['200']?.content ?? {});
      expect(answer, where).toHaveProperty('example');
    }
  });

  it('has a scheme for each class of keys and either header', () => {
    const { securitySchemes } = written.components;
    const used = new Set(
      operations.flatMap(({ security = [] }) => security.map((one) => Object.keys(one).join())),
    );
    expect([...used].sort()).toEqual(
      ['operator', 'partner', 'session', 'vendor', 'widget'].flatMap((kind) => [
        `${kind}Bearer`,
        `${kind}Key`,
      ]),
    );
    for (const scheme of used) expect(securitySchemes).toHaveProperty(scheme);
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
