import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Causeway, type CausewayError, isCausewayError, type WebhookEndpoint } from '@causeway/sdk';
import { flag, type Invocation, type Run } from '../command.ts';
import { classOf, clientOf, fetchPage, kindOf, publicClientOf } from '../deployment.ts';
import { CommandError, EXIT } from '../exit.ts';
import type { Paint } from '../output.ts';
import { configPath, KEY_CLASSES, type Profile, safeAddress } from '../profile.ts';
import { durationOf } from '../values.ts';
import { VERSION } from '../version.ts';

type Verdict = 'ok' | 'warn' | 'fail';

/** One thing that was looked at, and where it is not well, the way on. */
interface Finding {
  readonly check: string;
  readonly verdict: Verdict;
  readonly message: string;
  readonly hint?: string;
}

const OLDEST_NODE = 20;
/** Webhooks are refused after 5 minutes; long before that somebody should look. */
const WORST_SKEW_SECONDS = 300;
const ODD_SKEW_SECONDS = 30;

/** Looks at everything between this machine and a working integration. */
export const doctor: Run = async (invocation) => {
  const findings: Finding[] = [];
  const add = (...more: readonly Finding[]) => {
    // What was stopped has found nothing.
    invocation.signal.throwIfAborted();
    findings.push(...more);
    if (!invocation.output.json)
      for (const one of more) invocation.output.line(one, (paint) => lineOf(one, paint));
  };
  add(node(), await configuration(invocation));
  const profile = await invocation.profile().catch((error: unknown) => {
    if (!(error instanceof CommandError)) throw error;
    add({
      check: 'profile',
      verdict: 'fail',
      message: error.message,
      ...(error.hint ? { hint: error.hint } : {}),
    });
    return undefined;
  });
  if (profile !== undefined) await checkDeployment(invocation, profile, add);
  const failed = findings.filter(({ verdict }) => verdict === 'fail').length;
  const warned = findings.filter(({ verdict }) => verdict === 'warn').length;
  if (invocation.output.json) {
    invocation.output.result({ ok: failed === 0, failed, warned, checks: findings }, () => '');
  }
  if (failed > 0) {
    const count = failed === 1 ? '1 check failed' : `${failed} checks failed`;
    throw new CommandError(`${count}.`, { exitCode: EXIT.faults });
  }
};

function lineOf({ check, verdict, message, hint }: Finding, paint: Paint): string {
  const styles = { ok: 'green', warn: 'yellow', fail: 'red' } as const;
  const line = `${paint(styles[verdict], verdict.padEnd(4))}  ${check.padEnd(12)}  ${message}`;
  return hint === undefined ? line : `${line}\n${' '.repeat(20)}${paint('dim', hint)}`;
}

function node(): Finding {
  const major = Number(process.versions.node.split('.')[0]);
  const message = `Node ${process.versions.node}`;
  if (major >= OLDEST_NODE) return { check: 'node', verdict: 'ok', message };
  return { check: 'node', verdict: 'fail', message, hint: `Node ${OLDEST_NODE} or later is needed.` };
}

async function configuration({ env }: Invocation): Promise<Finding> {
  const check = 'config file';
  const path = configPath(env);
  const [file, folder] = await Promise.all(
    [path, dirname(path)].map((one) => stat(one).catch(() => undefined)),
  );
  if (file === undefined || folder === undefined) {
    return { check, verdict: 'ok', message: `none at ${path}: nothing is saved` };
  }
  // Windows keeps no such bits.
  const isOpen = process.platform !== 'win32' && (file.mode & 0o077) !== 0;
  const isWritable = process.platform !== 'win32' && (folder.mode & 0o022) !== 0;
  if (isOpen) {
    const message = `${path} can be read by others (mode ${(file.mode & 0o777).toString(8)})`;
    return { check, verdict: 'fail', message, hint: `chmod 600 ${path}, and have the keys in it replaced.` };
  }
  if (isWritable) {
    const message = `others can write to ${dirname(path)}`;
    return { check, verdict: 'warn', message, hint: `chmod 700 ${dirname(path)}` };
  }
  return { check, verdict: 'ok', message: `${path}, readable by you only` };
}

async function checkDeployment(
  invocation: Invocation,
  profile: Profile,
  add: (...findings: readonly Finding[]) => void,
): Promise<void> {
  const { signal } = invocation;
  const { name, source } = profile;
  let baseUrl: string;
  try {
    baseUrl = safeAddress(profile.baseUrl);
    add({ check: 'profile', verdict: 'ok', message: `“${name}” from ${source}: ${baseUrl}` });
  } catch (error) {
    const { message, hint } = error as CommandError;
    add({ check: 'profile', verdict: 'fail', message, ...(hint === undefined ? {} : { hint }) });
    return;
  }
  const reached = await reachable(baseUrl, signal);
  add(...reached);
  if (reached.some(({ verdict }) => verdict === 'fail')) return;
  const anybody = publicClientOf(baseUrl);
  add(await ready(anybody, signal), await version(baseUrl, signal), await kind(baseUrl, profile, signal));
  for (const keyClass of KEY_CLASSES) {
    const key = profile.keys[keyClass];
    if (key !== undefined) add(await keyOf(baseUrl, key, keyClass, signal));
  }
  add(await chains(anybody, signal), await rates(anybody, signal));
  if (profile.keys.partner === undefined) {
    const message = `the profile “${name}” has no key of a partner`;
    add({ check: 'webhook', verdict: 'warn', message, hint: 'causeway login adds one.' });
  } else add(...(await webhooks(invocation, clientOf(profile, 'partner'))));
}

/** Whether it answers, and whether its clock is ours: the Date header has whole seconds. */
async function reachable(baseUrl: string, signal: AbortSignal): Promise<Finding[]> {
  const check = 'reachable';
  const started = Date.now();
  try {
    const response = await fetchPage(baseUrl, '/health', signal);
    const tookMs = Date.now() - started;
    if (!response.ok) {
      const message = `${baseUrl}/health answers ${response.status}`;
      return [{ check, verdict: 'fail', message, hint: 'Is this the address of the API itself?' }];
    }
    const reached: Finding = { check, verdict: 'ok', message: `answers in ${tookMs} ms` };
    return [reached, skewOf(response.headers.get('date'), started + tookMs / 2)];
  } catch (error) {
    const { cause, message: said } = error as Error & { cause?: { code?: string } };
    const message = `${baseUrl} does not answer: ${cause?.code ?? said}`;
    return [{ check, verdict: 'fail', message, hint: 'Is it running, and the address right?' }];
  }
}

function skewOf(date: string | null, atMs: number): Finding {
  const check = 'clock';
  if (date === null) return { check, verdict: 'warn', message: 'the answer has no Date header' };
  const skew = Math.round((atMs - Date.parse(date) - 500) / 1_000);
  const message =
    Math.abs(skew) <= 1
      ? 'this machine and the service agree'
      : `this machine is ${durationOf(skew)} ${skew > 0 ? 'ahead of' : 'behind'} the service`;
  if (Math.abs(skew) < ODD_SKEW_SECONDS) return { check, verdict: 'ok', message };
  return {
    check,
    verdict: Math.abs(skew) < WORST_SKEW_SECONDS ? 'warn' : 'fail',
    message,
    hint: 'Signed webhooks are refused when clocks are minutes apart: switch on time synchronisation (NTP).',
  };
}

async function ready(causeway: Causeway, signal: AbortSignal): Promise<Finding> {
  try {
    await causeway.service.ready({ maxRetries: 0, signal });
    return { check: 'ready', verdict: 'ok', message: 'the service can do all of its work' };
  } catch (error) {
    const { failing = [] } = detailsOf(error) as { failing?: readonly { check: string; reason: string }[] };
    const reasons = failing.map(({ check, reason }) => `${check}: ${reason}`);
    const message = reasons.join('; ') || said(error);
    return { check: 'ready', verdict: 'fail', message, hint: 'Its operator sees more in the log.' };
  }
}

async function version(baseUrl: string, signal: AbortSignal): Promise<Finding> {
  const check = 'version';
  try {
    const response = await fetchPage(baseUrl, '/api/v1/openapi.json', signal);
    const { info } = (await response.json()) as { info: { version: string; 'x-release'?: string } };
    // Up to 0.1.0 the description had the release as its version.
    const release = info['x-release'] ?? info.version;
    // Before 1.0 the second number is the one that counts.
    const line = (full: string) =>
      full
        .split('.')
        .slice(0, full.startsWith('0.') ? 2 : 1)
        .join('.');
    const message = `API ${release}, this program ${VERSION}`;
    if (line(release) === line(VERSION)) return { check, verdict: 'ok', message };
    return { check, verdict: 'warn', message, hint: 'Install the release of @causeway/cli that fits.' };
  } catch (error) {
    return { check, verdict: 'warn', message: `the description of the API cannot be read: ${said(error)}` };
  }
}

async function kind(baseUrl: string, profile: Profile, signal: AbortSignal): Promise<Finding> {
  const check = 'kind';
  try {
    const found = await kindOf(baseUrl, signal);
    const message = found === 'live' ? 'live: money moves' : 'sandbox: no money moves';
    if (profile.kind === undefined || profile.kind === found) return { check, verdict: 'ok', message };
    return {
      check,
      verdict: 'warn',
      message: `${message}, saved as ${profile.kind}`,
      hint: 'Run causeway login again.',
    };
  } catch (error) {
    return { check, verdict: 'warn', message: said(error) };
  }
}

async function keyOf(baseUrl: string, key: string, keyClass: string, signal: AbortSignal): Promise<Finding> {
  const check = `${keyClass} key`;
  try {
    const found = await classOf(baseUrl, key, signal);
    if (found === keyClass) return { check, verdict: 'ok', message: 'accepted' };
    const hint = `causeway logout --as ${keyClass}, then causeway login.`;
    return { check, verdict: 'fail', message: `it is the key of a ${found}`, hint };
  } catch (error) {
    return {
      check,
      verdict: 'fail',
      message: said(error),
      hint: `causeway login --as ${keyClass} saves another.`,
    };
  }
}

async function chains(causeway: Causeway, signal: AbortSignal): Promise<Finding> {
  const check = 'chains';
  try {
    const list = await causeway.supported.blockchains({ signal });
    const told = list.map(({ slug, crypto_currencies }) => `${slug} (${crypto_currencies.length} tokens)`);
    if (list.some(({ crypto_currencies }) => crypto_currencies.length > 0)) {
      return { check, verdict: 'ok', message: told.join(', ') };
    }
    const hint = 'Its operator enables tokens in the file of chains.';
    return { check, verdict: 'fail', message: 'no chain has a token', hint };
  } catch (error) {
    return { check, verdict: 'fail', message: said(error) };
  }
}

async function rates(causeway: Causeway, signal: AbortSignal): Promise<Finding> {
  const check = 'rates';
  try {
    const { rates: list } = await causeway.rates.list({}, { signal });
    const old = list.filter(({ status }) => status !== 'fresh');
    const message = `${list.length - old.length} of ${list.length} pairs are fresh`;
    const pairs = old.slice(0, 8).map(({ base, quote, status }) => `${base}/${quote} ${status}`);
    const hint = `Only a fresh rate is priced on: ${pairs.join(', ')}${old.length > 8 ? ', …' : ''}.`;
    if (old.length === 0 && list.length > 0) return { check, verdict: 'ok', message };
    return { check, verdict: old.length === list.length ? 'fail' : 'warn', message, hint };
  } catch (error) {
    return { check, verdict: 'fail', message: said(error) };
  }
}

async function webhooks(invocation: Invocation, causeway: Causeway): Promise<Finding[]> {
  const check = 'webhook';
  try {
    const { endpoints } = await causeway.webhookEndpoints.list({ signal: invocation.signal });
    if (endpoints.length > 0) {
      const found: Finding[] = [];
      for (const endpoint of endpoints) found.push(await endpointOf(invocation, causeway, endpoint));
      return found;
    }
    const hint = 'POST /partner/webhooks sets one; the event stream works without.';
    return [{ check, verdict: 'warn', message: 'no address is set', hint }];
  } catch (error) {
    return [{ check, verdict: 'fail', message: said(error) }];
  }
}

/** Its state and its last delivery, and whether a test event arrives: as the service sees it. */
async function endpointOf(
  invocation: Invocation,
  causeway: Causeway,
  endpoint: WebhookEndpoint,
): Promise<Finding> {
  const check = 'webhook';
  const { signal } = invocation;
  const { id, url, enabled, health } = endpoint;
  if (!enabled) {
    return {
      check,
      verdict: 'warn',
      message: `${url} is switched off`,
      hint: 'Events are kept; switch it on to get them.',
    };
  }
  const {
    deliveries: [last],
  } = await causeway.webhookEndpoints.listDeliveries(id, { limit: 1 }, { signal });
  const before =
    last === undefined ? 'nothing sent yet' : `last delivery ${last.status} (${last.created_at})`;
  const hint = `causeway webhooks deliveries --endpoint ${id} shows what it answered.`;
  if (!flag(invocation, 'skip-webhook-test')) {
    try {
      const { http_status } = await causeway.webhookEndpoints.test(id, { signal });
      const ok = `${url} took a test event with ${http_status}`;
      if (health.state === 'ok') return { check, verdict: 'ok', message: `${ok}; ${before}` };
      const waiting = `${health.pending_deliveries} deliveries wait`;
      return { check, verdict: 'warn', message: `${ok}, but it was failing: ${waiting}; ${before}`, hint };
    } catch (error) {
      const message = `${url}: ${said(error)}; ${before}`;
      return {
        check,
        verdict: 'fail',
        message,
        hint: 'It must be reachable from where the service runs, and answer 2xx within 10 seconds.',
      };
    }
  }
  const since = health.failing_since === null ? '' : ` since ${health.failing_since}, ${health.last_error}`;
  return {
    check,
    verdict: health.state === 'ok' ? 'ok' : 'fail',
    message: `${url}: ${health.state}${since}; ${before}`,
    ...(health.state === 'ok' ? {} : { hint }),
  };
}

const detailsOf = (error: unknown): object => (isCausewayError(error) ? error.details : {});

/** What went wrong, with what the service added to it. */
function said(error: unknown): string {
  if (!isCausewayError(error)) return error instanceof Error ? error.message : String(error);
  const { details, message } = error as CausewayError;
  return Object.keys(details).length === 0 ? message : `${message} ${JSON.stringify(details)}`;
}
