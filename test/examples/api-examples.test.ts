import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ALIASES, NOT_CALLED } from '../../scripts/sdk/names.ts';
import { SDK_METHODS, sdkMethodAt } from '../../scripts/sdk/operations.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { calledOperations } from '../harness/sdk-operations.ts';
import { sendEveryOperation } from './every-operation.ts';
import { type ExampleRun, exampleRun } from './example-run.ts';
import { exampleOf, haveSameFields, readAnswers, writeAnswers } from './recorded-answers.ts';

/** Written by `npm run docs:answers`. */
const RECORDS = process.env.RECORD_ANSWERS === '1';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Answers what code says that was made of the description, and that calls the API. */
async function generatedClients(gateway: TestGateway): Promise<string> {
  const cache = join(ROOT, '.cache');
  await mkdir(cache, { recursive: true });
  // Inside the project, where the generated code finds its runtime.
  const folder = await mkdtemp(join(cache, 'clients-'));
  try {
    const { text } = await gateway.call('GET', '/api/v1/openapi.json', { key: null });
    await writeFile(join(folder, 'openapi.json'), text);
    const generate = join(ROOT, 'test/clients/generate.ts');
    const key = gateway.partners[1].apiKey;
    const { stdout } = await promisify(execFile)(process.execPath, [generate, folder, gateway.baseUrl, key]);
    return stdout;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

describe('every operation, with the request that its description shows', () => {
  let gateway: TestGateway;
  let run: ExampleRun;
  let clients: Promise<string>;

  beforeAll(async () => {
    gateway = await startGateway({
      chains: true,
      env: { RATE_LIMIT_PARTNER_PER_MINUTE: '100000', RATE_LIMIT_PUBLIC_PER_MINUTE: '100000' },
    });
    run = await exampleRun(gateway);
    // Made while the operations wait for the chain.
    clients = generatedClients(gateway);
    clients.catch(() => undefined);
  });
  afterAll(() => gateway?.stop());

  // Proves C4, trap 50, C1 rule 4.
  it('answers 200 on a fresh sandbox', async () => {
    await sendEveryOperation(gateway, run);
    const missing = run.routes.map(({ operationId }) => operationId).filter((id) => !run.answers.has(id));
    expect(missing, 'add a step that runs it').toEqual([]);
  }, 180_000);

  it('calls every operation through the SDK: `npm run sdk:operations` lists them', () => {
    const called = calledOperations();
    const without = { ...ALIASES, ...NOT_CALLED };
    const missing = run.routes
      .filter(({ operationId }) => !(operationId in without))
      .filter(({ method, path }) => !called.has(sdkMethodAt(method, path)?.name ?? 'no method'))
      .map(({ operationId }) => operationId);
    expect(missing).toEqual([]);
    expect([...called].filter((name) => !SDK_METHODS.some((method) => method.name === name))).toEqual([]);
  });

  it('two public generators make clients of it that type-check and work', async () => {
    expect(await clients).toBe('100.00');
  });

  // Proves trap 50.
  it('shows answers that were given: `npm run docs:answers` records them anew', async () => {
    const fresh = Object.fromEntries(
      [...run.answers].map(([id, answer]) => [id, exampleOf(answer, gateway.baseUrl)]),
    );
    if (RECORDS) await writeAnswers(fresh);
    const recorded = await readAnswers();
    const stale = Object.keys({ ...recorded, ...fresh }).filter(
      (id) => !(id in recorded && id in fresh && haveSameFields(recorded[id], fresh[id])),
    );
    expect(stale).toEqual([]);
  });
});
