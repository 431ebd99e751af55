import { type CausewayEvent, type EventType, isCausewayError, type Order } from '@causeway/sdk';
import { flag, type Invocation, text } from '../command.ts';
import { CommandError, EXIT, failureLine } from '../exit.ts';
import { didYouMean } from '../near-matches.ts';
import { table } from '../output.ts';
import { EVENT_TYPES, NO_STATUS, PLANS, type Plan, type Way } from './plans.ts';
import { hasBeen, openSession, requireSandbox, type Session, type Step, sandboxFile } from './trigger-run.ts';

const DEFAULT_TIMEOUT_SECONDS = 60;

/** `causeway trigger`: drives an order, customer or account of a sandbox to where the service sends the event. */
export async function run(invocation: Invocation): Promise<void> {
  if (flag(invocation, 'list')) return list(invocation);
  const [given] = invocation.args;
  if (given === undefined)
    throw usage('causeway trigger needs EVENT.', 'causeway trigger --list shows them.');
  const type = EVENT_TYPES.find((known) => known === given);
  if (type === undefined) {
    throw usage(
      `There is no event “${given}”.${didYouMean(given, EVENT_TYPES)}`,
      'causeway trigger --list shows them.',
    );
  }
  const target = targetOf(invocation, type);
  const orderId = text(invocation, 'order');
  if (orderId === undefined) {
    const way = target.ways.find(({ direction }) => fitsDirection(invocation, direction)) ?? target.ways[0];
    if (flag(invocation, 'dry-run')) return showSteps(invocation, target, way.steps);
    return trigger(invocation, target, way.steps, undefined);
  }
  const order = await orderToContinue(invocation, target, orderId);
  const way = target.ways.find(({ direction }) => direction === directionOf(order));
  if (way === undefined) {
    throw refused(`An ${directionOf(order)} order does not get to ${nameOf(target)}.`);
  }
  const steps = stepsLeft(target, way, order);
  if (flag(invocation, 'dry-run')) return showSteps(invocation, target, steps);
  return trigger(invocation, target, steps, order);
}

interface Target {
  readonly type: EventType;
  readonly status: string;
  readonly ways: readonly [Way, ...Way[]];
}

function nameOf({ type, status }: Target): string {
  return status === NO_STATUS ? type : `${type} (${status})`;
}

function targetOf(invocation: Invocation, type: EventType): Target {
  const plan: Plan = PLANS[type];
  const wanted = text(invocation, 'status');
  const known = Object.keys(plan.ways).filter((status) => status !== NO_STATUS);
  if (wanted !== undefined && known.length === 0)
    throw usage(`${type} tells of no status: leave --status out.`);
  if (wanted !== undefined && !known.includes(wanted)) {
    throw usage(
      `${type} tells of no status “${wanted}”.${didYouMean(wanted, known)} There are: ${known.join(', ')}.`,
    );
  }
  const status = wanted ?? plan.usual;
  const ways = plan.ways[status];
  if (ways === undefined || typeof ways === 'string') throw usage(ways ?? `There is no way to ${status}.`);
  const target = { type, status, ways };
  const direction = text(invocation, 'direction');
  if (direction !== undefined && !ways.some((way) => way.direction === direction)) {
    throw usage(`No ${direction} order leads to ${nameOf(target)}.`);
  }
  return target;
}

function fitsDirection(invocation: Invocation, direction: Way['direction']): boolean {
  const wanted = text(invocation, 'direction');
  return wanted === undefined || wanted === direction;
}

async function orderToContinue(invocation: Invocation, target: Target, orderId: string): Promise<Order> {
  if (target.ways.every(({ direction }) => direction === undefined)) {
    throw usage(`${target.type} is not about an order: leave --order out.`);
  }
  if (text(invocation, 'direction') !== undefined)
    throw usage('--order has its direction: leave --direction out.');
  const { client, profile, signal } = invocation;
  await requireSandbox(await profile(), signal);
  return (await client('partner')).orders.get(orderId, { signal });
}

function directionOf({ order_type: type }: Order): string {
  // A payment request is an on-ramp order, too.
  return type === 'payment_request' ? 'onramp' : type;
}

/** What an order still needs; refused where it can no longer get there. */
function stepsLeft(target: Target, { steps }: Way, order: Order): readonly Step[] {
  const own = steps.filter(({ opens }) => opens !== true);
  const last = steps.at(-1);
  if (last?.to !== undefined && hasBeen(order, last.to)) {
    throw refused(
      `The order has been ${last.to} already (it is ${order.status} now): ${target.type} was sent then.`,
    );
  }
  const left = own.filter(({ to }) => to === undefined || !hasBeen(order, to));
  // Any step that begins here will do: an order can be cancelled from several statuses.
  const next = left.findIndex(({ from = [], between = [] }) => [...from, ...between].includes(order.status));
  if (next < 0) throw refused(`An order that is ${order.status} does not get to ${nameOf(target)}.`);
  return left.slice(next);
}

async function trigger(
  invocation: Invocation,
  target: Target,
  steps: readonly Step[],
  order: Order | undefined,
): Promise<void> {
  const profile = await invocation.profile();
  await requireSandbox(profile, invocation.signal);
  const needs = new Set(steps.flatMap((step) => step.needs ?? []));
  if (needs.has('wallet') || (needs.has('operator') && profile.keys.operator === undefined)) {
    await sandboxFile(invocation, profile);
  }
  const session = await openSession(invocation, { profile, stepTimeoutMs: timeoutMs(invocation) });
  try {
    if (needs.size > 0 && profile.keys.operator === undefined) await session.run.sandbox();
    if (order !== undefined) session.run.made.orderId = order.order_id;
    for (const [index, step] of steps.entries()) {
      invocation.output.note(`${index + 1}/${steps.length} ${step.says}`);
      await perform(session, step);
    }
    const event = await session.event((heard) => fits(target, session, heard));
    invocation.output.result(event, () => JSON.stringify(event, null, 2));
  } catch (error) {
    // Why the step failed says more than what could not be put back because of it.
    await session.end().catch((left) => invocation.output.note(`Not put back: ${failureLine(left)}`));
    throw error;
  }
  await session.end();
}

/** The simulated actors may be quicker than we are: what has happened by itself is as good. */
async function perform({ run, order, reaches }: Session, step: Step): Promise<void> {
  const { to, between = [] } = step;
  if (step.opens === true || step.from === undefined) return step.run(run);
  const before = await order();
  if (to !== undefined && (hasBeen(before, to) || between.includes(before.status))) return reaches(to);
  try {
    await step.run(run);
  } catch (error) {
    if (!isCausewayError(error, 'INVALID_STATUS', 'OPERATION_NOT_ALLOWED') || to === undefined) throw error;
    const after = await order();
    if (!hasBeen(after, to) && !between.includes(after.status)) throw error;
  }
  if (to !== undefined) await reaches(to);
}

function fits({ type, status }: Target, { run: { made } }: Session, event: CausewayEvent): boolean {
  if (event.event_type !== type) return false;
  const data = event.data as { order_id?: string; user_id?: string; status?: string; kyc_status?: string };
  if (made.orderId !== undefined) return data.order_id === made.orderId && data.status === status;
  if (made.userId !== undefined && data.user_id !== made.userId) return false;
  return data.kyc_status === undefined || data.kyc_status === status;
}

function timeoutMs(invocation: Invocation): number {
  const given = text(invocation, 'timeout') ?? String(DEFAULT_TIMEOUT_SECONDS);
  if (!/^[1-9]\d{0,4}$/.test(given)) throw usage('--timeout is a number of seconds.');
  return Number(given) * 1_000;
}

function list({ output }: Invocation): void {
  const events = EVENT_TYPES.map((type) => {
    const plan: Plan = PLANS[type];
    const ways = Object.entries(plan.ways).filter(
      ([status, way]) => status !== NO_STATUS && typeof way !== 'string',
    );
    return {
      event: type,
      summary: plan.summary,
      statuses: ways.map(([status]) => status),
      usual: plan.usual,
    };
  });
  output.result(
    events.map(({ usual, ...event }) => (usual === NO_STATUS ? event : { ...event, usual_status: usual })),
    (paint) =>
      [
        table(
          ['EVENT', 'WHAT HAPPENS'],
          events.map(({ event, summary }) => [event, summary]),
          paint,
        ),
        '',
        ...events
          .filter(({ statuses }) => statuses.length > 1)
          .map(
            ({ event, statuses, usual }) => `${event} --status ${statuses.join('|')}; without it ${usual}`,
          ),
      ].join('\n'),
  );
}

function showSteps({ output }: Invocation, { type, status }: Target, steps: readonly Step[]): void {
  const shown = steps.map(({ says, calls, to }) => ({
    says,
    calls,
    ...(to === undefined ? {} : { order_status: to }),
  }));
  output.result({ event: type, ...(status === NO_STATUS ? {} : { status }), steps: shown }, (paint) =>
    table(
      ['', 'STEP', 'CALLS', 'ORDER'],
      shown.map(({ says, calls, order_status }, index) => [
        `${index + 1}`,
        says,
        calls.join(', '),
        order_status ?? '',
      ]),
      paint,
    ),
  );
}

function usage(message: string, hint?: string): CommandError {
  return new CommandError(message, { exitCode: EXIT.usage, ...(hint === undefined ? {} : { hint }) });
}

function refused(message: string): CommandError {
  return new CommandError(message, { exitCode: EXIT.refused });
}
