import type { ErrorCode } from '@causeway/protocol';
import type { TestGateway } from '../harness/gateway.ts';
import { makeCustomer } from '../invariants/customer-fixture.ts';
import { type FuzzCaller, fuzzCallers } from './callers.ts';
import { harvestIds, plantForeign, sandboxNeedles, sessionNeedles } from './ground.ts';
import { createJudge, type Judge, type Problem } from './judge.ts';
import { createLeakWatch, type LeakWatch } from './leaks.ts';
import { createRandom, type Random } from './random.ts';
import { type FuzzRequest, makeRequest, type Subjects } from './requests.ts';
import { type FuzzRoute, fuzzRoutes } from './routes.ts';
import { openWire } from './wire.ts';

/** Requests over every route and every class of callers, each answer held against the description and searched for leaks. */
export interface FuzzReport {
  readonly requests: number;
  readonly seconds: number;
  readonly routes: number;
  readonly callers: number;
  /** Pairs of a route and a class of callers, and how many of them were tried. */
  readonly cells: { readonly all: number; readonly tried: number };
  /** How often each status was answered, by class of callers. */
  readonly statuses: ReadonlyMap<string, Readonly<Record<string, number>>>;
  readonly secrets: number;
  readonly problems: readonly (Problem & { readonly where: string })[];
}

export interface FuzzOptions {
  readonly seed: number;
  readonly requests: number;
  /** Codes that tell of something outside of the service that does not answer here: the only 5xx there may be. */
  readonly outside: readonly ErrorCode[];
  /** What the processes have logged since the last time it was asked. */
  readonly takeLog: () => readonly string[];
}

interface Cell {
  readonly route: FuzzRoute;
  readonly caller: FuzzCaller;
}

const IN_FLIGHT = 24;
const MOST_PROBLEMS = 20;
/** A route is tried so much more often by those whom it serves: the others are refused before anything is read. */
const OWN_WEIGHT = 4;
/** Some requests erase the customer: it is made anew now and then. */
const RENEWED_EVERY = 4_000;

export async function fuzzMatrix(gateway: TestGateway, options: FuzzOptions): Promise<FuzzReport> {
  const routes = fuzzRoutes(gateway);
  const callers = await fuzzCallers(gateway);
  const { customer: foreign, needles } = await plantForeign(gateway);
  const watch = createLeakWatch([...needles, ...(await sandboxNeedles(gateway)), ...sessionNeedles(callers)]);
  const own = await makeCustomer(gateway, gateway.partners[0].apiKey);
  let subjects: Subjects = { own, foreign, ids: await harvestIds(gateway, routes, callers) };
  const cells = routes.flatMap((route) => callers.map((caller): Cell => ({ route, caller })));
  const order = orderOf(createRandom(options.seed), cells);
  const seen = observations(callers);
  const { judge } = createJudge(options.outside);
  const began = performance.now();
  for (let sent = 0; sent < options.requests && seen.problems.length < MOST_PROBLEMS; sent += RENEWED_EVERY) {
    if (sent > 0) subjects = { ...subjects, own: await makeCustomer(gateway, gateway.partners[0].apiKey) };
    const until = Math.min(options.requests, sent + RENEWED_EVERY);
    await sendAll(gateway, { from: sent, until, order, subjects, watch, judge, seed: options.seed }, seen);
    for (const line of options.takeLog()) {
      for (const leak of watch.inLog(line))
        seen.problems.push({ kind: 'leak', says: leak, where: line.slice(0, 400) });
    }
  }
  return {
    requests: Math.min(options.requests, seen.sent),
    seconds: (performance.now() - began) / 1_000,
    routes: routes.length,
    callers: callers.length,
    cells: { all: cells.length, tried: seen.tried.size },
    statuses: seen.statuses,
    secrets: watch.size,
    problems: seen.problems,
  };
}

interface Observations {
  sent: number;
  readonly tried: Set<string>;
  readonly statuses: Map<string, Record<string, number>>;
  readonly problems: (Problem & { readonly where: string })[];
}

function observations(callers: readonly FuzzCaller[]): Observations {
  return {
    sent: 0,
    tried: new Set(),
    statuses: new Map(callers.map(({ name }) => [name, {}])),
    problems: [],
  };
}

interface Turn {
  readonly from: number;
  readonly until: number;
  readonly order: readonly Cell[];
  readonly subjects: Subjects;
  readonly watch: LeakWatch;
  readonly judge: Judge['judge'];
  readonly seed: number;
}

/** Some routes wait for an order to move before they answer: the others do not wait for them. */
async function sendAll(gateway: TestGateway, turn: Turn, seen: Observations): Promise<void> {
  const wire = openWire(gateway.baseUrl);
  const { judge } = turn;
  let next = turn.from;
  const sender = async () => {
    while (next < turn.until && seen.problems.length < MOST_PROBLEMS) {
      const number = next++;
      const { route, caller } = turn.order[number % turn.order.length] as Cell;
      // Each request has random numbers of its own, so that it can be made again without those before it.
      const random = createRandom(turn.seed ^ Math.imul(number + 1, 0x9e3779b1));
      const request = makeRequest(random, route, caller, turn.subjects);
      const answer = await wire.send(request);
      seen.sent++;
      seen.tried.add(`${route.operationId} ${caller.name}`);
      const counts = seen.statuses.get(caller.name) ?? {};
      counts[answer.status] = (counts[answer.status] ?? 0) + 1;
      const where = `request ${number}, ${caller.name}: ${route.method} ${route.path} (${request.how})`;
      const problem = judge(route, caller, answer, request.mayBeCutOff);
      if (problem !== undefined) seen.problems.push({ ...problem, where });
      for (const leak of turn.watch.inAnswer(caller, route.operationId, sentText(request), answer.text)) {
        seen.problems.push({ kind: 'leak', says: `tells ${leak}: ${answer.text.slice(0, 400)}`, where });
      }
      // Some requests end the session of who makes them.
      if (answer.status === 401 && caller.serves(route)) await caller.renew();
      if (answer.status === 200) turn.watch.learn(route.operationId, answer.text);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, sender));
  wire.close();
}

const sentText = ({ path, headers, body }: FuzzRequest) =>
  `${decoded(path)} ${Object.values(headers).join(' ')} ${body ?? ''}`;

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Every cell once, those of callers that are served more often, in an order that a short run cuts off evenly. */
function orderOf(random: Random, cells: readonly Cell[]): Cell[] {
  const weighted = cells.flatMap((cell) =>
    Array.from(
      { length: cell.caller.serves(cell.route) && cell.route.access !== 'public' ? OWN_WEIGHT : 1 },
      () => cell,
    ),
  );
  for (let i = weighted.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [weighted[i], weighted[j]] = [weighted[j] as Cell, weighted[i] as Cell];
  }
  return weighted;
}
