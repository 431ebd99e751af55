import { readFile, writeFile } from 'node:fs/promises';
import { flag, type Invocation, type Run, text, texts } from '../command.ts';
import { keyOf } from '../deployment.ts';
import { readVariables } from '../env-file.ts';
import { CommandError, EXIT } from '../exit.ts';
import { table } from '../output.ts';
import { readAll } from '../prompt.ts';
import { loadDriver, stateOfDriver } from './driver.ts';
import { readExpectedFailures } from './expected-failures.ts';
import { LIMITS } from './receiver-steps.ts';
import { type Report, renderJUnit, renderReport, reportOf } from './report.ts';
import { LATEST_API_VERSION, REQUIREMENTS, type Requirement } from './requirements.ts';
import { type RunOptions, runConformance } from './run.ts';
import { stateOfUrl } from './state.ts';
import { createTrace, publicUrl } from './trace.ts';

const SECRET = 'CAUSEWAY_WEBHOOK_SECRET';
const ENDED_SECRET = 'CAUSEWAY_WEBHOOK_ENDED_SECRET';

export const run: Run = async (invocation) => {
  const { output, signal } = invocation;
  const apiVersion = text(invocation, 'api-version') ?? LATEST_API_VERSION;
  const all = REQUIREMENTS[apiVersion] ?? [];
  const requirements = chosen(all, texts(invocation, 'only'));
  if (flag(invocation, 'list')) {
    output.result(requirements, (paint) =>
      table(
        ['check', 'level', 'requirement'],
        requirements.map(({ id, level, text: says }) => [id, level, says]),
        paint,
      ),
    );
    return;
  }
  const expectedFile = text(invocation, 'expected-failures');
  const expected = expectedFile === undefined ? [] : await readExpectedFailures(expectedFile, all);
  const parts = await partsOf(invocation);
  const trace = createTrace(
    [parts.webhook?.secret, parts.webhook?.endedSecret, parts.driver?.apiKey].filter(
      (one) => one !== undefined,
    ),
  );
  const results = await runConformance({
    ...parts,
    ...{ requirements, signal, trace },
    onResult: ({ requirement, outcome, ms }) => {
      if (outcome !== 'not_observable') output.note(`${outcome.padEnd(6)}  ${requirement.id} (${ms} ms)`);
    },
  }).finally(() => parts.driver?.driver.close?.());
  const report = reportOf({
    ...{
      apiVersion,
      results,
      expected: expected.filter(({ id }) => requirements.some((one) => one.id === id)),
    },
    webhook: parts.webhook === undefined ? null : publicUrl(parts.webhook.url),
    driver: text(invocation, 'driver') ?? null,
    today: new Date().toISOString().slice(0, 10),
    // Links lead to the deployment's own pages where one is known.
    docsBase: await invocation.profile().then(
      ({ baseUrl }) => baseUrl.replace(/\/+$/, ''),
      () => '',
    ),
  });
  await write(text(invocation, 'junit'), () => renderJUnit(report));
  await write(text(invocation, 'trace'), () => `${JSON.stringify(trace.entries(), null, 2)}\n`);
  output.result(report, (paint) => renderReport(report, paint));
  throwIfNot(report);
};

function throwIfNot({ verdict, checks, stale_expectations: stale }: Report): void {
  if (verdict === 'conformant') return;
  const count = (outcome: string) => checks.filter((check) => check.outcome === outcome).length;
  if (verdict === 'fault') {
    throw new CommandError(`${count('fault')} checks could not be made; that says nothing about your code.`, {
      exitCode: EXIT.unavailable,
      hint: 'Is the receiver, or the sandbox, running at this address?',
    });
  }
  const failed = checks.filter(
    ({ outcome, level, expected_until: until }) => outcome === 'missed' && level === 'MUST' && until === null,
  );
  const parts = [
    failed.length > 0 ? `${failed.length} MUST missed` : '',
    stale.length > 0 ? `${stale.length} expected failures are out of date` : '',
    count('fault') > 0 ? `${count('fault')} could not be made` : '',
  ];
  throw new CommandError(`${parts.filter((part) => part !== '').join(', ')}.`, { exitCode: EXIT.faults });
}

/** By id, or all below a name: `webhooks.signature`. */
function chosen(all: readonly Requirement[], only: readonly string[]): readonly Requirement[] {
  const fits = (id: string, name: string) => id === name || id.startsWith(`${name}.`);
  const unknown = only.find((name) => !all.some(({ id }) => fits(id, name)));
  if (unknown !== undefined) {
    throw new CommandError(`There is no check “${unknown}”.`, {
      exitCode: EXIT.usage,
      hint: 'causeway conformance --list has them all.',
    });
  }
  return only.length === 0 ? all : all.filter(({ id }) => only.some((name) => fits(id, name)));
}

async function partsOf(invocation: Invocation): Promise<Pick<RunOptions, 'webhook' | 'driver'>> {
  const webhookUrl = text(invocation, 'webhook');
  const driverFile = text(invocation, 'driver');
  if (webhookUrl === undefined && driverFile === undefined) {
    throw new CommandError('Say what to check: --webhook URL, --driver FILE, or both.', {
      exitCode: EXIT.usage,
    });
  }
  const driver = driverFile === undefined ? undefined : await loadDriver(driverFile);
  const stateUrl = text(invocation, 'state');
  const state = {
    ...(driver === undefined ? {} : stateOfDriver(driver)),
    ...(stateUrl === undefined ? {} : stateOfUrl(urlOf('state', stateUrl), LIMITS.stepMs, invocation.signal)),
  };
  return {
    ...(webhookUrl === undefined
      ? {}
      : { webhook: { url: urlOf('webhook', webhookUrl), ...(await secretsOf(invocation)), state } }),
    ...(driver === undefined ? {} : { driver: { driver, ...(await partnerOf(invocation)) } }),
  };
}

/** From standard input, the file, or the environment; never from the command line, which other users of the machine see. */
async function secretsOf(
  invocation: Invocation,
): Promise<{ secret: string; endedSecret: string | undefined }> {
  const file = text(invocation, 'env-file');
  const env = { ...invocation.env, ...(file === undefined ? {} : await readEnvFile(file)) };
  const secret = flag(invocation, 'secret-stdin')
    ? await readAll(invocation.stdin, invocation.signal)
    : env[SECRET];
  if (secret === undefined || secret === '') {
    throw new CommandError('The webhook secret of your receiver is needed to sign as the service does.', {
      exitCode: EXIT.usage,
      hint: `Set ${SECRET}, or name a file that does with --env-file, or give it with --secret-stdin.`,
    });
  }
  return { secret, endedSecret: env[ENDED_SECRET] === '' ? undefined : env[ENDED_SECRET] };
}

async function partnerOf(invocation: Invocation): Promise<{ baseUrl: string; apiKey: string }> {
  const profile = await invocation.profile();
  return { baseUrl: profile.baseUrl, apiKey: keyOf(profile, 'partner') };
}

async function readEnvFile(file: string): Promise<Record<string, string | undefined>> {
  try {
    return readVariables(await readFile(file, 'utf8'));
  } catch (error) {
    throw new CommandError(`--env-file cannot be read: ${(error as Error).message}`, {
      exitCode: EXIT.usage,
    });
  }
}

function urlOf(option: string, given: string): URL {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol)) return url;
  throw new CommandError(`--${option} is an http(s) address, not “${given}”.`, { exitCode: EXIT.usage });
}

async function write(file: string | undefined, content: () => string): Promise<void> {
  if (file === undefined) return;
  try {
    await writeFile(file, content());
  } catch (error) {
    throw new CommandError(`${file} cannot be written: ${(error as Error).message}`);
  }
}
