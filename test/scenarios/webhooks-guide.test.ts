import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWebhookSender } from '../../apps/gateway/src/features/webhooks/webhook-sender.ts';
import { WEBHOOK_RETRY_SCHEDULE } from '../../apps/gateway/src/lib/backoff.ts';
import { type ReceivedWebhook, startWebhookSink } from '../harness/webhook-sink.ts';

const SECRET = 'whsec_0123456789abcdefghijklmnopqrstuv';
// Bytes that a careless sample would re-encode.
const BODY = JSON.stringify({ event_id: 'evt_1', data: { name: 'Zoë 北京 "quoted" \\ %s $HOME' } });
const UNITS: Readonly<Record<string, number>> = { min: 60, h: 3_600 };

describe('the guide to webhooks', () => {
  let guide: string;
  let folder: string;
  let sent: ReceivedWebhook;

  /** What the sender really sends, so that the samples are tried on it and not on an idea of it. */
  beforeAll(async () => {
    guide = await readFile('docs/guides/webhooks.md', 'utf8');
    folder = await mkdtemp(join(tmpdir(), 'causeway-guide-'));
    const sink = await startWebhookSink({ tls: false });
    const sender = createWebhookSender({ allowLoopback: true }, () => Math.floor(Date.now() / 1_000));
    await sender.send({ url: sink.url, secrets: { current: SECRET }, body: BODY });
    await sender.close();
    await sink.close();
    sent = sink.received[0] as ReceivedWebhook;
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  function sample(language: string, containing: string): string {
    const blocks = [...guide.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)];
    const found = blocks.find(([, name, text]) => name === language && text?.includes(containing));
    if (found?.[2] === undefined) throw new Error(`no ${language} sample with ${containing}`);
    return found[2];
  }

  interface Received {
    readonly body: Buffer;
    readonly timestamp: string;
    readonly signature: string;
    readonly secret: string;
  }
  const genuine = (): Received => ({
    body: sent.rawBody,
    timestamp: String(sent.headers['x-service-timestamp']),
    signature: String(sent.headers['x-service-signature']),
    secret: SECRET,
  });
  const forgeries = (): Received[] => [
    { ...genuine(), body: Buffer.concat([sent.rawBody, Buffer.from(' ')]) },
    { ...genuine(), timestamp: String(Number(genuine().timestamp) + 1) },
    { ...genuine(), signature: genuine().signature.replace(/.$/, (last) => (last === '0' ? '1' : '0')) },
    { ...genuine(), signature: '' },
    { ...genuine(), secret: 'whsec_other' },
  ];
  const stale = (): Received => ({ ...genuine(), timestamp: String(Number(genuine().timestamp) - 301) });

  it('the TypeScript sample accepts what is sent and refuses what is forged, altered or old', async () => {
    const file = join(folder, 'verify.ts');
    await writeFile(file, sample('ts', 'isFromCauseway'));
    const { isFromCauseway } = await import(/* @vite-ignore */ pathToFileURL(file).href);
    const accepts = ({ body, timestamp, signature, secret }: Received, now?: number) =>
      isFromCauseway(body, timestamp, signature, secret, now);
    expect(accepts(genuine())).toBe(true);
    for (const forged of [...forgeries(), stale()]) expect(accepts(forged)).toBe(false);
    expect(accepts(genuine(), Number(genuine().timestamp) + 301)).toBe(false);
  });

  it('the shell sample accepts what is sent and refuses what is forged or altered', async () => {
    const script = sample('sh', 'openssl dgst');
    const run = async ({ body, timestamp, signature, secret }: Received) => {
      await writeFile(join(folder, 'body'), body);
      const env = {
        PATH: process.env.PATH ?? '',
        TIMESTAMP: timestamp,
        SIGNATURE: signature,
        SECRET: secret,
      };
      return spawnSync('sh', ['-c', script], { cwd: folder, env, encoding: 'utf8' }).stdout.trim();
    };
    expect(await run(genuine())).toBe('valid');
    for (const forged of forgeries()) expect(await run(forged)).toBe('invalid');
  });

  // Python is not needed to build or run anything here, so a machine may be without it.
  it.skipIf(spawnSync('python3', ['--version']).status !== 0)(
    'the Python sample accepts what is sent and refuses what is forged, altered or old',
    async () => {
      const cases = [genuine(), ...forgeries(), stale()].map(({ body, ...rest }) => ({
        ...rest,
        body: body.toString('base64'),
      }));
      const judge = `${sample('python', 'is_from_causeway')}
import base64, json, sys
print(json.dumps([is_from_causeway(base64.b64decode(c["body"]), c["timestamp"], c["signature"], c["secret"]) for c in json.load(sys.stdin)]))
`;
      const printed = execFileSync('python3', ['-c', judge], { input: JSON.stringify(cases) });
      expect(JSON.parse(printed.toString())).toEqual([true, ...Array(cases.length - 1).fill(false)]);
    },
  );

  it('the table of retries is the schedule', () => {
    const rows = [...guide.matchAll(/^\| (\d+) \| (at once|(\d+) (min|h)) \|$/gm)];
    const delays = rows.map(([, , , count, unit]) =>
      count === undefined ? 0 : Number(count) * (UNITS[unit ?? ''] ?? Number.NaN),
    );
    expect(rows.map(([, attempt]) => Number(attempt))).toEqual(
      Array.from({ length: WEBHOOK_RETRY_SCHEDULE.maxAttempts }, (_, index) => index + 1),
    );
    expect(delays).toEqual(rows.map((_, index) => WEBHOOK_RETRY_SCHEDULE.delayBeforeAttempt(index + 1)));
  });
});
