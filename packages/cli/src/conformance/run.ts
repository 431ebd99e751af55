import { type Causeway, isCausewayError } from '@causeway/sdk';
import { connect } from '../deployment.ts';
import { CommandError, EXIT } from '../exit.ts';
import { firstOf } from '../signals.ts';
import { createReceiverClient, HarnessFault } from './delivery.ts';
import type { Driver } from './driver.ts';
import { DRIVER_CHECKS } from './driver-checks.ts';
import { type DriverContext, messageOf, ofSandbox, ordersOf } from './driver-session.ts';
import { RECEIVER_CHECKS } from './receiver-checks.ts';
import {
  type Finding,
  goodDelivery,
  LIMITS,
  type Limits,
  notAcknowledged,
  type ReceiverContext,
} from './receiver-steps.ts';
import { type Part, PREREQUISITES, partOf, type Requirement } from './requirements.ts';
import type { StateProbe } from './state.ts';
import { createTrace, type Trace } from './trace.ts';

export type Outcome = 'passed' | 'missed' | 'not_observable' | 'fault';

export interface CheckResult {
  readonly requirement: Requirement;
  readonly outcome: Outcome;
  readonly reason: string | undefined;
  readonly ms: number;
}

export interface RunOptions {
  readonly requirements: readonly Requirement[];
  readonly webhook?: {
    readonly url: URL;
    readonly secret: string;
    readonly endedSecret?: string | undefined;
    readonly state?: StateProbe | undefined;
  };
  readonly driver?: { readonly driver: Driver; readonly baseUrl: string; readonly apiKey: string };
  readonly limits?: Partial<Limits>;
  readonly signal: AbortSignal;
  readonly trace?: Trace;
  readonly onResult?: (result: CheckResult) => void;
}

/** Checks that change nothing for the others; a sandbox has room for a few orders at a time. */
const AT_A_TIME = 4;
/** After these a good delivery must still be acknowledged: what a hostile one broke is its check's miss. */
const HOSTILE = /^webhooks\.(signature|timestamp|rotation|refused|event|body|request)\./;
/** They say why nothing is acknowledged, so that they do not wait for that it is. */
const SAYS_WHY = /^webhooks\.answer\./;

type Attempt = (requirement: Requirement) => Promise<Finding>;

/** Runs the checks and judges them, in the order of the list; throws only where the run itself is impossible. */
export async function runConformance(options: RunOptions): Promise<readonly CheckResult[]> {
  const limits = { ...LIMITS, ...options.limits };
  const deadline = AbortSignal.timeout(limits.runMs);
  const signal = firstOf(options.signal, deadline);
  const trace = options.trace ?? createTrace([]);
  const results = new Map<string, CheckResult>();

  async function judge(requirement: Requirement, attempt: Attempt): Promise<CheckResult> {
    const began = performance.now();
    const { outcome, reason } = await outcomeOf(requirement, attempt, options.signal, deadline, limits);
    options.signal.throwIfAborted();
    const result = { requirement, outcome, reason, ms: Math.round(performance.now() - began) };
    results.set(requirement.id, result);
    options.onResult?.(result);
    return result;
  }

  const of = (part: Part) => options.requirements.filter((requirement) => partOf(requirement) === part);
  const common = { limits, signal, trace };
  await runReceiverPart(of('webhooks'), options, common, judge);
  await runDriverPart(of('api'), options, common, judge);
  return options.requirements.flatMap(({ id }) => results.get(id) ?? []);
}

interface Common {
  readonly limits: Limits;
  readonly signal: AbortSignal;
  readonly trace: Trace;
}
type Judge = (requirement: Requirement, attempt: Attempt) => Promise<CheckResult>;

async function outcomeOf(
  requirement: Requirement,
  attempt: Attempt,
  stop: AbortSignal,
  deadline: AbortSignal,
  { runMs }: Limits,
): Promise<{ outcome: Outcome; reason: string | undefined }> {
  const late = `the ${runMs / 1_000} s of a run were over: answers come too slowly`;
  if (deadline.aborted) return { outcome: 'missed', reason: late };
  try {
    const finding = await attempt(requirement);
    if (deadline.aborted) return { outcome: 'missed', reason: late };
    if (finding === undefined) return { outcome: 'passed', reason: undefined };
    if (typeof finding === 'string') return { outcome: 'missed', reason: finding };
    return { outcome: 'not_observable', reason: finding.notObservable };
  } catch (error) {
    stop.throwIfAborted();
    if (error instanceof CommandError) throw error;
    if (deadline.aborted) return { outcome: 'missed', reason: late };
    // Whatever is not the partner's answer is a fault of the harness: never a miss.
    return { outcome: 'fault', reason: messageOf(error) };
  }
}

/** Remembers how the prerequisite of a part went, also where it was not asked for. */
function behind(part: Part, check: () => Promise<Finding>) {
  let first: Promise<Finding> | undefined;
  const met = () => (first ??= check());
  return {
    met,
    async ifMet(work: () => Promise<Finding>): Promise<Finding> {
      const finding = await met();
      if (finding === undefined) return work();
      if (typeof finding !== 'string') return finding;
      return `${PREREQUISITES[part]} is missed, without which this proves nothing: ${finding}`;
    },
  };
}

async function runReceiverPart(
  requirements: readonly Requirement[],
  { webhook }: RunOptions,
  { limits, signal, trace }: Common,
  judge: Judge,
): Promise<void> {
  if (webhook === undefined) {
    const reason = { notObservable: 'no receiver: give --webhook' };
    for (const requirement of requirements) await judge(requirement, async () => reason);
    return;
  }
  const contextOf = (id: string): ReceiverContext => ({
    receiver: createReceiverClient(webhook.url, {
      timeoutMs: limits.stepMs,
      signal,
      record: (delivery, answer, text) => trace.for(id).delivery(webhook.url, delivery, answer, text),
    }),
    secret: webhook.secret,
    endedSecret: webhook.endedSecret,
    state: webhook.state ?? {},
    limits,
  });
  const checkOf = (id: string) => {
    const check = RECEIVER_CHECKS[id];
    if (check === undefined) throw new Error(`there is no check ${id}`);
    return check;
  };
  const first = PREREQUISITES.webhooks;
  const prerequisite = behind('webhooks', () => checkOf(first)(contextOf(first)));
  for (const requirement of requirements) {
    const { id } = requirement;
    await judge(requirement, async () => {
      if (id === first) return prerequisite.met();
      // Reachable at all? A fault of the harness is thrown here, once for every check.
      await prerequisite.met();
      const run = () => stillServing(id, contextOf(id), checkOf(id));
      return SAYS_WHY.test(id) ? run() : prerequisite.ifMet(run);
    });
  }
}

async function stillServing(
  id: string,
  context: ReceiverContext,
  check: (context: ReceiverContext) => Promise<Finding>,
): Promise<Finding> {
  const finding = await check(context);
  if (!HOSTILE.test(id) || finding !== undefined) return finding;
  const answer = await context.receiver.send(await goodDelivery(context));
  const reason =
    answer.kind === 'unreachable' ? 'it is not reachable any more' : notAcknowledged(answer, context.limits);
  return reason === undefined ? undefined : `afterwards a good event is no longer acknowledged: ${reason}`;
}

async function runDriverPart(
  requirements: readonly Requirement[],
  { driver: given }: RunOptions,
  common: Common,
  judge: Judge,
): Promise<void> {
  const missing = ({ id }: Requirement): string | undefined => {
    if (given === undefined) return 'no driver: give --driver';
    const lacks = DRIVER_CHECKS[id]?.needs.find((name) => given.driver[name] === undefined);
    return lacks === undefined ? undefined : `the driver has no ${lacks}`;
  };
  const seen = requirements.filter((requirement) => missing(requirement) === undefined);
  for (const requirement of requirements) {
    const reason = missing(requirement);
    if (reason !== undefined) await judge(requirement, async () => ({ notObservable: reason }));
  }
  if (given === undefined || seen.length === 0) return;
  const { driver, baseUrl, apiKey } = given;
  const client = connect(baseUrl, apiKey);
  await requireSandbox(client);
  const references: string[] = [];
  let made: ReturnType<DriverContext['customer']> | undefined;
  const contextOf = (id: string): DriverContext => ({
    ...{ driver, client, baseUrl, apiKey, references },
    ...{ ...common, trace: common.trace.for(id), customer: () => (made ??= makeCustomer(client)) },
  });
  const runOf = (id: string) => DRIVER_CHECKS[id]?.run(contextOf(id));
  const first = PREREQUISITES.api;
  const prerequisite = behind('api', async () => runOf(first));
  const one = (requirement: Requirement) =>
    judge(requirement, async ({ id }) => {
      if (id === first) return prerequisite.met();
      const isBehind = DRIVER_CHECKS[id]?.needs.includes('openOnramp') === true;
      return isBehind ? prerequisite.ifMet(async () => runOf(id)) : runOf(id);
    });
  try {
    const isAlone = ({ id }: Requirement) => DRIVER_CHECKS[id]?.alone === true;
    await pooled(
      seen.filter((requirement) => !isAlone(requirement)),
      one,
    );
    for (const requirement of seen.filter(isAlone)) await one(requirement);
  } finally {
    await cancelAll(client, references);
  }
}

async function pooled<One>(all: readonly One[], run: (one: One) => Promise<unknown>): Promise<void> {
  const left = [...all];
  const worker = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) await run(next);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, worker));
}

/** The driver opens orders and the clock is moved: nothing for a deployment with real money. */
async function requireSandbox(client: Causeway): Promise<void> {
  try {
    await client.sandbox.clock();
  } catch (error) {
    const isMissing = isCausewayError(error) && error.status === 404;
    if (isMissing) {
      throw new CommandError('The driver’s checks run against a sandbox only, and this is none.', {
        exitCode: EXIT.refused,
      });
    }
    if (isCausewayError(error) && error.status === 401) throw error;
    throw new CommandError(`The sandbox cannot be used: ${messageOf(error)}`, { exitCode: EXIT.unavailable });
  }
}

async function makeCustomer(client: Causeway) {
  const { id: userId } = await ofSandbox(
    client.users.create({
      email: `conformance-${crypto.randomUUID()}@example.com`,
      first_name: 'Ada',
      last_name: 'Lovelace',
    }),
  );
  await ofSandbox(client.sandbox.kycStatus(userId, { status: 'VERIFIED' }));
  const { id: paymentDetailsId } = await ofSandbox(
    client.paymentDetails.create(userId, {
      ...{ rail: 'iban-sepa', currency: 'EUR', country_code: 'DE' },
      details: { full_name: 'Ada Lovelace', iban: 'DE89370400440532013000' },
    }),
  );
  return { userId, paymentDetailsId };
}

/** What the checks have left open would count against the partner's limits. */
async function cancelAll(client: Causeway, references: readonly string[]): Promise<void> {
  const cancel = async (reference: string) => {
    try {
      for (const { order_id: id, allowed_actions: allowed } of await ordersOf(client, reference)) {
        if (allowed.includes('cancel')) await client.orders.cancel(id, { reason: 'conformance' });
      }
    } catch (error) {
      if (!(error instanceof HarnessFault) && !isCausewayError(error)) throw error;
    }
  };
  await pooled(references, cancel);
}
