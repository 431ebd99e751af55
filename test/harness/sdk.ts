import { AsyncLocalStorage } from 'node:async_hooks';
import { isDeepStrictEqual } from 'node:util';
import { Causeway, type ClientOptions, isCausewayError } from '@causeway/sdk';
import type { Answer } from './call.ts';
import { noteOperation } from './sdk-operations.ts';
import { PATIENCE } from './until.ts';

/** What a call of the SDK answered: what it returned or threw, beside what went over the wire. */
export interface SdkAnswer<T> extends Omit<Answer, 'body'> {
  readonly body: {
    readonly success: boolean;
    readonly data: T;
    // biome-ignore lint/suspicious/noExplicitAny: details of every code.
    readonly error: any;
  };
}

/** The SDK's methods, of which a refusal is an answer and not an exception. */
export type SdkAnswers<Resource = Causeway> = {
  readonly [Name in keyof Resource]: Resource[Name] extends (...args: infer Args) => infer Result
    ? Result extends PromiseLike<infer T>
      ? (...args: Args) => Promise<SdkAnswer<T>>
      : Resource[Name]
    : SdkAnswers<Resource[Name]>;
};

interface Seen {
  answer?: Answer;
}
const seenBy = new AsyncLocalStorage<Seen>();

/** Notes which operation is called, and what was answered where somebody asks for it. */
const observedFetch: typeof fetch = async (input, init) => {
  noteOperation(init?.method ?? 'GET', new URL(String(input)).pathname);
  const response = await fetch(input, init);
  const seen = seenBy.getStore();
  if (seen === undefined) return response;
  const { status, headers } = response;
  const text = await response.text();
  seen.answer = { status, headers, text, body: parsed(text) };
  return new Response(text === '' ? null : text, { status, headers });
};

/** The SDK's own, where nothing is being killed. */
const TIMEOUT_MS = 30_000;

/** The SDK as a partner, vendor or operator has it; null sends no key. */
export function sdkOf(
  baseUrl: string,
  apiKey: string | null,
  options: Partial<ClientOptions> = {},
): Causeway {
  return new Causeway({
    baseUrl,
    ...(apiKey === null ? {} : { apiKey }),
    fetch: observedFetch,
    timeout: TIMEOUT_MS * PATIENCE,
    ...options,
  });
}

/** For scenarios that look at refusals: each call is sent once. */
export function sdkAnswersOf(baseUrl: string, apiKey: string | null): SdkAnswers {
  return answering(sdkOf(baseUrl, apiKey, { maxRetries: 0 })) as SdkAnswers;
}

function answering(resource: object): object {
  return Object.fromEntries(
    Object.entries(resource).map(([name, member]) => [
      name,
      typeof member !== 'function'
        ? answering(member as object)
        : name === 'stream'
          ? member
          : (...args: readonly unknown[]) => answerOf(() => member(...args)),
    ]),
  );
}

/** Fails where the SDK says something else than was answered. */
async function answerOf(call: () => PromiseLike<unknown>): Promise<Answer> {
  const seen: Seen = {};
  const outcome = await seenBy.run(seen, async () => {
    try {
      return { value: await call() };
    } catch (error) {
      return { error };
    }
  });
  const { answer } = seen;
  if (answer === undefined) throw outcome.error;
  const { status, body, text, headers } = answer;
  if ('value' in outcome) {
    if (isDeepStrictEqual(outcome.value, body === undefined ? text : body.data)) return answer;
    throw new Error(`the SDK returned something else than was answered: ${text.slice(0, 500)}`);
  }
  const { error } = outcome;
  if (!isCausewayError(error)) throw error;
  const told = body?.error ?? { code: body?.data?.error_key, message: body?.data?.error_key };
  const agrees =
    error.status === status &&
    error.code === told.code &&
    error.message.endsWith(told.message) &&
    isDeepStrictEqual(error.details, told.details ?? {}) &&
    error.requestId === (headers.get('x-request-id') ?? undefined);
  if (agrees) return answer;
  throw new Error(`the SDK threw ${error.message} for: ${text.slice(0, 500)}`, { cause: error });
}

function parsed(text: string): Answer['body'] {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Input that the SDK's types forbid, as a caller without types might send it. */
export function untyped(input: unknown): never {
  return input as never;
}
