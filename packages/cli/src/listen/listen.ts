import { type CausewayEvent, isCausewayError, type Streamed } from '@causeway/sdk';
import { TEST_EVENT_TYPES } from '@causeway/sdk/webhooks';
import { flag, type Invocation, text, texts } from '../command.ts';
import { CommandError, EXIT } from '../exit.ts';
import { didYouMean } from '../near-matches.ts';
import type { Paint } from '../output.ts';
import type { Profile } from '../profile.ts';
import { type AttemptReport, createForwarder, type Forwarded } from './forwarder.ts';
import { type SavedCursor, savedCursor, webhookSecret, writeEnvFile } from './listen-state.ts';
import { createReceiver, forwardUrl, parseHeader, type Receiver } from './receiver.ts';

interface ListenOptions {
  readonly forwardTo: string | undefined;
  readonly headers: readonly (readonly [string, string])[];
  readonly types: readonly string[];
  readonly retries: number;
  readonly from: string | undefined;
}

const DEFAULT_RETRIES = 5;

/** `causeway listen`: the partner's events, shown or forwarded as webhooks, until it is stopped. */
export async function run(invocation: Invocation): Promise<void> {
  const options = readOptions(invocation);
  const profile = await invocation.profile();
  const envFile = text(invocation, 'env-file');
  if (envFile !== undefined) {
    await writeEnvFile(envFile, await webhookSecret(invocation.env, profile));
    invocation.output.note(`The signing secret is in ${envFile}.`);
  }
  if (flag(invocation, 'print-secret')) {
    const secret = await webhookSecret(invocation.env, profile);
    invocation.output.result({ secret }, () => secret);
    return;
  }
  if (options.forwardTo === undefined) await show(invocation, options);
  else await forwardAll(invocation, profile, { ...options, forwardTo: options.forwardTo });
}

function readOptions(invocation: Invocation): ListenOptions {
  const wrong = (message: string) => new CommandError(message, { exitCode: EXIT.usage });
  const given = text(invocation, 'forward-to');
  const types = texts(invocation, 'events');
  const unknown = types.find((type) => !TEST_EVENT_TYPES.some((known) => known === type));
  if (unknown !== undefined) {
    const known = TEST_EVENT_TYPES.join(', ');
    throw wrong(
      `There is no event “${unknown}”.${didYouMean(unknown, TEST_EVENT_TYPES)} There are: ${known}.`,
    );
  }
  const retries = text(invocation, 'retries') ?? String(DEFAULT_RETRIES);
  if (!/^\d{1,4}$/.test(retries)) throw wrong('--retries is a whole number; 0 means none.');
  const from = text(invocation, 'from');
  if (from !== undefined && !/^(start|now|\d{1,18})$/.test(from)) {
    throw wrong('--from is start, now, or the cursor of an event.');
  }
  const headers = texts(invocation, 'header').map(parseHeader);
  if (given === undefined) {
    const needless = ['header', 'ca', 'retries'].find((name) => invocation.options[name] !== undefined);
    if (needless !== undefined) throw wrong(`--${needless} is for --forward-to.`);
  }
  return {
    forwardTo: given === undefined ? undefined : forwardUrl(given),
    headers,
    types,
    retries: Number(retries),
    from,
  };
}

/** Where a stream begins: nothing given begins now. */
function afterOf(from: string | undefined): { readonly after?: string } {
  if (from === undefined || from === 'now') return {};
  return { after: from === 'start' ? '0' : from };
}

async function show(invocation: Invocation, { types, from }: ListenOptions): Promise<void> {
  const told = announcements(invocation, 'Waiting for events.');
  await follow(invocation, { ...afterOf(from), ...told }, async ({ cursor, event }) => {
    if (types.length > 0 && !types.includes(event.event_type)) return;
    invocation.output.line({ kind: 'event', cursor, ...event }, (paint) =>
      [paint('dim', clockTime()), event.event_type, ...aboutOf(event), paint('dim', `cursor ${cursor}`)].join(
        '  ',
      ),
    );
  });
}

interface Item extends Forwarded {
  readonly event: CausewayEvent;
}

async function forwardAll(
  invocation: Invocation,
  profile: Profile,
  options: ListenOptions & { readonly forwardTo: string },
): Promise<void> {
  const { forwardTo, types, retries, from } = options;
  const secret = await webhookSecret(invocation.env, profile);
  const receiver = await createReceiver({
    url: forwardTo,
    secret,
    headers: options.headers,
    caFile: text(invocation, 'ca'),
  });
  const stop = new AbortController();
  const end = () => stop.abort(invocation.signal.reason);
  invocation.signal.addEventListener('abort', end, { once: true });
  if (invocation.signal.aborted) end();
  const cursors = savedCursor(invocation.env, profile, forwardTo);
  const saver = createSaver(cursors, (error) => stop.abort(error));
  const forwarder = createForwarder<Item>({
    receiver,
    retries,
    signal: stop.signal,
    onAttempt: (item, report) => showAttempt(invocation, item, report),
    onReceiver: (isUp, problem) => tellReceiver(invocation, receiver, isUp, problem),
    onSettled: saver.save,
  });
  const saved = from === undefined ? await cursors.read() : undefined;
  const begins = saved === undefined ? afterOf(from) : { after: saved };
  const where = begins.after === undefined ? 'now' : `cursor ${begins.after}`;
  const told = announcements(
    invocation,
    `Forwarding events to ${forwardTo}, from ${where}. causeway listen --print-secret shows what they are signed with.`,
  );
  forwarder.probe();
  try {
    await follow(
      { ...invocation, signal: stop.signal },
      {
        ...begins,
        onBreak: told.onBreak,
        onOpen(cursor) {
          // Begun now: a kill before the first event must not skip it.
          if (begins.after === undefined && told.isFirst()) saver.save(cursor);
          told.onOpen(cursor);
        },
      },
      async ({ cursor, event, body }) => {
        if (types.length > 0 && !types.includes(event.event_type)) forwarder.pass(cursor);
        else await forwarder.take({ cursor, event, body, subject: subjectOf(event) });
      },
    );
  } finally {
    stop.abort();
    await forwarder.stop();
    receiver.close();
    await saver.done();
    invocation.signal.removeEventListener('abort', end);
  }
}

interface Follow {
  readonly after?: string;
  onOpen(cursor: string): void;
  onBreak(error: unknown, retryInMs: number): void;
}

/** Until it is stopped, or refused in a way that waiting does not cure. */
async function follow(
  invocation: Pick<Invocation, 'client' | 'signal'>,
  options: Follow,
  onEvent: (streamed: Streamed<CausewayEvent>) => Promise<void>,
): Promise<void> {
  const client = await invocation.client('partner');
  const { signal } = invocation;
  try {
    for await (const streamed of client.events.stream({ ...options, signal })) await onEvent(streamed);
  } catch (error) {
    if (signal.aborted) {
      // Stopped by the user, or by a failure of ours, which is the reason.
      if (signal.reason instanceof CommandError) throw signal.reason;
      return;
    }
    if (!isCausewayError(error, 'CURSOR_EXPIRED')) throw error;
    throw new CommandError('Events after the saved cursor are no longer kept by the service.', {
      exitCode: EXIT.refused,
      hint: `--from start begins with the oldest that is kept (cursor ${error.details.oldest_cursor}).`,
    });
  }
}

/** The stream's state, told when it changes: as remarks, or as lines of their own with `--json`. */
function announcements(invocation: Invocation, ready: string) {
  let opened = 0;
  let isBroken = false;
  return {
    isFirst: () => opened === 0,
    onOpen(cursor: string): void {
      if (opened++ === 0) tell(invocation, 'ready', { cursor }, ready);
      else if (isBroken) tell(invocation, 'stream_resumed', { cursor }, 'The stream of events is back.');
      isBroken = false;
    },
    onBreak(error: unknown, retryInMs: number): void {
      const problem = isCausewayError(error)
        ? error.code
        : error === undefined
          ? 'ended'
          : 'connection failed';
      const seconds = (retryInMs / 1_000).toFixed(1);
      const message = `The stream of events broke (${problem}); it goes on in ${seconds} s where it stopped.`;
      tell(invocation, 'stream_broken', { problem, retry_in_ms: Math.round(retryInMs) }, message);
      isBroken = true;
    },
  };
}

function tell({ output }: Invocation, kind: string, fields: object, message: string): void {
  if (output.json) output.line({ kind, time: new Date().toISOString(), ...fields }, () => message);
  else output.note(message);
}

function tellReceiver(invocation: Invocation, { url }: Receiver, isUp: boolean, problem?: string): void {
  const { origin } = new URL(url);
  if (isUp) tell(invocation, 'receiver_up', { url }, `${origin} answers again.`);
  else
    tell(
      invocation,
      'receiver_down',
      { url, problem },
      `${origin}: ${problem}; events wait until it answers.`,
    );
}

function showAttempt({ output }: Invocation, { cursor, event }: Item, report: AttemptReport): void {
  const { attempt, result, isAccepted, retryInMs } = report;
  const { order_id: orderId = null } = event.data as { order_id?: string };
  const line = {
    kind: 'forwarded',
    time: new Date().toISOString(),
    cursor,
    event_id: event.event_id,
    event_type: event.event_type,
    order_id: orderId,
    status: result.kind === 'answered' ? result.status : null,
    ...(result.kind === 'failed' ? { problem: result.problem } : {}),
    ms: result.ms,
    attempt,
    accepted: isAccepted,
    ...(retryInMs === undefined ? {} : { retry_in_ms: retryInMs }),
    given_up: !isAccepted && retryInMs === undefined,
  };
  output.line(line, (paint) =>
    [
      paint('dim', clockTime()),
      event.event_type,
      ...aboutOf(event),
      outcomeOf(result, isAccepted, paint),
      paint('dim', `${result.ms} ms`),
      ...(isAccepted ? [] : [paint('yellow', nextOf(report))]),
    ].join('  '),
  );
}

function outcomeOf(result: AttemptReport['result'], isAccepted: boolean, paint: Paint): string {
  return paint(
    isAccepted ? 'green' : 'red',
    result.kind === 'answered' ? `${result.status}` : result.problem,
  );
}

function nextOf({ attempt, retryInMs }: AttemptReport): string {
  if (retryInMs === undefined) return `given up after ${attempt} ${attempt === 1 ? 'attempt' : 'attempts'}`;
  return `attempt ${attempt}, again in ${retryInMs / 1_000} s`;
}

type Subjects = { order_id?: string; user_id?: string; status?: string; kyc_status?: string };

function subjectOf(event: CausewayEvent): string {
  const { order_id: orderId, user_id: userId } = event.data as Subjects;
  return orderId ?? userId ?? event.event_id;
}

function aboutOf(event: CausewayEvent): string[] {
  const { status, kyc_status: kycStatus } = event.data as Subjects;
  return [subjectOf(event), status ?? kycStatus ?? ''].filter((part) => part !== '');
}

function clockTime(): string {
  const now = new Date();
  return [now.getHours(), now.getMinutes(), now.getSeconds()]
    .map((part) => `${part}`.padStart(2, '0'))
    .join(':');
}

/** One write at a time, always of the latest. */
function createSaver(cursors: SavedCursor, onFailure: (error: unknown) => void) {
  let latest: string | undefined;
  let writing: Promise<void> | undefined;
  async function write(): Promise<void> {
    try {
      for (let cursor = latest; cursor !== undefined; cursor = latest) {
        latest = undefined;
        await cursors.save(cursor);
      }
    } catch (error) {
      onFailure(error);
    } finally {
      writing = undefined;
    }
  }
  return {
    save(cursor: string): void {
      latest = cursor;
      writing ??= write();
    },
    done: async () => writing,
  };
}
