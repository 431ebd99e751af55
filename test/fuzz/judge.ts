import { type ErrorCode, partnerErrorResponseOf } from '@causeway/protocol';
import { Compile } from 'typebox/schema';
import type { FuzzCaller } from './callers.ts';
import type { FuzzRoute } from './routes.ts';
import type { WireAnswer } from './wire.ts';

/** Why an answer is wrong, by kind: each has a figure of its own in the report. */
export interface Problem {
  readonly kind: 'server_error' | 'schema' | 'access' | 'leak' | 'transport';
  readonly says: string;
}

interface MediaType {
  readonly schema?: object;
}
type Check = (value: unknown) => string | undefined;

/** Answers are held against the schema that the description has for their status and content type. */
export interface Judge {
  judge(route: FuzzRoute, caller: FuzzCaller, answer: WireAnswer, mayBeCutOff: boolean): Problem | undefined;
}

/**
 * What a session adds to any route, and the description of the API does not tell: it is for callers with keys. By their
 * status.
 */
const OF_A_SESSION: Readonly<Record<number, readonly ErrorCode[]>> = {
  401: ['SIGN_IN_REQUIRED'],
  403: ['FORBIDDEN', 'CSRF_TOKEN_INVALID', 'SECOND_FACTOR_REQUIRED'],
};

export function createJudge(outside: readonly ErrorCode[]): Judge {
  const checks = new Map<string, Check>();

  function isOfSession(route: FuzzRoute, caller: FuzzCaller, { status, text }: WireAnswer): boolean {
    if (!caller.hasSession && route.access !== 'console') return false;
    const body = parsed(text);
    return (OF_A_SESSION[status] ?? []).some(
      (code) => checkOf(code, partnerErrorResponseOf(code))(body) === undefined,
    );
  }

  function checkOf(name: string, schema: object): Check {
    const known = checks.get(name);
    if (known !== undefined) return known;
    const compiled = Compile(schema);
    const check: Check = (value) => {
      if (compiled.Check(value)) return undefined;
      const [, errors] = compiled.Errors(value);
      return errors
        .map(({ instancePath, message }) => `${instancePath} ${message}`)
        .slice(0, 3)
        .join('; ');
    };
    checks.set(name, check);
    return check;
  }

  function schemaProblem(route: FuzzRoute, { status, contentType, text }: WireAnswer): string | undefined {
    const described = route.operation.responses[String(status)];
    if (described === undefined) return `answers ${status}, which is not described: ${text.slice(0, 200)}`;
    const content = described.content as Readonly<Record<string, MediaType>> | undefined;
    if (content === undefined) return text === '' ? undefined : `${status} has a body, and none is described`;
    const type = contentType.split(';', 1)[0] ?? '';
    const media = content[type];
    if (media === undefined) return `${status} is ${type}, which is not described`;
    if (type !== 'application/json' || media.schema === undefined) return undefined;
    const body = parsed(text);
    if (body === undefined) return `${status} is no JSON: ${text.slice(0, 100)}`;
    const wrong = checkOf(`${route.operationId} ${status}`, media.schema)(body);
    return wrong === undefined
      ? undefined
      : `${status} does not fit its schema: ${wrong}: ${text.slice(0, 300)}`;
  }

  return {
    judge(route, caller, answer, mayBeCutOff) {
      const { status, text, requestId } = answer;
      if (status === 0) return mayBeCutOff ? undefined : { kind: 'transport', says: `no answer: ${text}` };
      if (status >= 500 && !outside.some((code) => text.includes(`"${code}"`)))
        return { kind: 'server_error', says: `answered ${status}: ${text.slice(0, 300)}` };
      if (requestId === undefined) return { kind: 'schema', says: `${status} has no X-Request-Id` };
      if (status < 300 && !caller.serves(route)) return { kind: 'access', says: `is served: ${status}` };
      if (isElsewhere(answer) || isOfSession(route, caller, answer)) return undefined;
      const says = schemaProblem(route, answer);
      return says === undefined ? undefined : { kind: 'schema', says };
    },
  };
}

/** The path itself can become another one. */
function isElsewhere({ status, text }: WireAnswer): boolean {
  return status === 404 && text.includes('"ROUTE_NOT_FOUND"');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
