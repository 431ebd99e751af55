import {
  EmailCodeInput,
  EmailCodeSchema,
  IdentifyInput,
  PartnerWidgetSessionInput,
  PartnerWidgetSessionSchema,
  SandboxMailboxQuery,
  SandboxMailboxSchema,
  SessionParams,
  StartedWidgetSessionSchema,
  WIDGET_TAG,
  WidgetCodeInput,
  WidgetSessionInput,
  WidgetSessionSchema,
} from '@causeway/protocol';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { unitOfWork } from '../../engine/unit-of-work.ts';
import { announceLimit, apiKeyOf } from '../../http/access.ts';
import { partnerSettingsOf } from '../../http/principals.ts';
import type { RateLimit } from '../../http/rate-limit.ts';
import { route } from '../../http/route.ts';
import { scopeOf } from '../../http/route-runs.ts';
import { addressBucket } from '../../lib/address-bucket.ts';
import { type EmailCodeDeps, identify, requestEmailCode } from './email-codes.ts';
import { readMailbox } from './mail/sandbox-mailbox.ts';
import { type SessionViewDeps, sessionView } from './session.view.ts';
import {
  makeSession,
  openSession,
  readSession,
  type SessionDeps,
  signOut,
  startSession,
} from './sessions.ts';

export interface SessionRouteDeps extends SessionDeps, SessionViewDeps, EmailCodeDeps {
  readonly clock: SessionDeps['clock'];
  readonly rateLimit: RateLimit;
  readonly publicBaseUrl: string;
  readonly config: EmailCodeDeps['config'] & {
    readonly widgetSessionsPerKeyPerMinute: number;
    readonly widgetSessionsPerAddressPerMinute: number;
    readonly widgetCodesPerAddressPerMinute: number;
  };
}

const WIDGET = '/api/v1/widget';
const SESSION = `${WIDGET}/session`;
/** What a page or a server can say wrongly of where a session begins. */
const START_ERRORS = ['UNSUPPORTED_CRYPTO_CURRENCY', 'UNSUPPORTED_FIAT_CURRENCY'] as const;

export function registerSessionRoutes(app: FastifyInstance, deps: SessionRouteDeps): void {
  const { config } = deps;
  // Each limit is a hook of its own routes, which are therefore in a scope of their own.
  app.register(async (scope) => {
    scope.addHook(
      'preHandler',
      limitBy(deps.rateLimit, config.widgetSessionsPerAddressPerMinute, (request) => [
        `widget-sessions:${addressBucket(request.ip)}`,
      ]),
    );
    scope.addHook(
      'preHandler',
      limitBy(deps.rateLimit, config.widgetSessionsPerKeyPerMinute, ({ principal }) =>
        principal === null ? [] : [`widget-sessions:key:${principal.keyId}`],
      ),
    );
    registerStart(scope, deps);
    registerOpening(scope, deps);
  });
  app.register(async (scope) => {
    scope.addHook(
      'preHandler',
      limitBy(deps.rateLimit, config.widgetCodesPerAddressPerMinute, (request) => [
        `widget-codes:${addressBucket(request.ip)}`,
      ]),
    );
    registerEmailCode(scope, deps);
  });
  registerIdentify(app, deps);
  registerReads(app, deps);
  registerMaking(app, deps);
  if (deps.sandbox) registerMailbox(app, deps);
}

function limitBy(
  rateLimit: RateLimit,
  perMinute: number,
  bucketsOf: (request: FastifyRequest) => readonly string[],
) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    for (const bucket of bucketsOf(request)) {
      const verdict = await rateLimit.take(bucket, perMinute);
      if (!verdict.allowed) throw announceLimit(reply, verdict);
    }
  };
}

function registerStart(app: FastifyInstance, deps: SessionRouteDeps): void {
  route(app, {
    access: 'widget',
    transaction: 'none',
    method: 'POST',
    url: `${WIDGET}/sessions`,
    operationId: 'startWidgetSession',
    tag: WIDGET_TAG,
    summary: 'Begin a session of the widget',
    description:
      'With the publishable key, which can do nothing else. The token is shown once and acts for the customer of this session alone; it is good for four hours, and ends with the key.',
    body: WidgetSessionInput,
    data: StartedWidgetSessionSchema,
    errors: START_ERRORS,
    handle: async ({ body, request }, caller) => {
      const { token, row } = await startSession(deps, caller, apiKeyOf(request.headers), body);
      return { token, session: await sessionView(deps, caller.partner, row) };
    },
  });
}

function registerOpening(app: FastifyInstance, deps: SessionRouteDeps): void {
  route(app, {
    access: 'public',
    transaction: 'none',
    method: 'POST',
    url: `${WIDGET}/sessions/:session_id/token`,
    operationId: 'openWidgetSession',
    tag: WIDGET_TAG,
    summary: 'Open a session that the partner’s server has made',
    description:
      'With the code in the fragment of its address, within ten minutes. Sent again within a minute, before the session was used, it answers another token, and the one before is good for nothing. A code that is wrong, used or over answers the same.',
    params: SessionParams,
    body: WidgetCodeInput,
    data: StartedWidgetSessionSchema,
    errors: ['WIDGET_SESSION_NOT_FOUND'],
    handle: async ({ params, body }) => {
      const { token, row } = await openSession(deps, params.session_id, body.code);
      const partner = await partnerSettingsOf(deps.db, row.partner_id);
      return { token, session: await sessionView(deps, partner, row) };
    },
  });
}

function registerReads(app: FastifyInstance, deps: SessionRouteDeps): void {
  route(app, {
    access: 'session',
    transaction: 'none',
    method: 'GET',
    url: SESSION,
    operationId: 'getWidgetSession',
    tag: WIDGET_TAG,
    summary: 'Get the session: its customer and the customer’s own orders',
    data: WidgetSessionSchema,
    handle: async (_input, session) =>
      sessionView(deps, session.partner, await readSession(deps.db, session)),
  });

  route(app, {
    access: 'session',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: `${SESSION}/sign-out`,
    operationId: 'signOutOfWidgetSession',
    tag: WIDGET_TAG,
    summary: 'Sign the customer out',
    description: 'The session stays; what it knew of its customer, the wallet and the reference, is gone.',
    data: WidgetSessionSchema,
    handle: async (_input, session, unit) => sessionView(deps, session.partner, await signOut(unit, session)),
  });
}

function registerEmailCode(app: FastifyInstance, deps: SessionRouteDeps): void {
  route(app, {
    access: 'session',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: `${SESSION}/email-code`,
    operationId: 'requestWidgetEmailCode',
    tag: WIDGET_TAG,
    summary: 'Send a code to an e-mail address',
    description:
      'Six digits, valid for ten minutes and five tries; another can be asked for after thirty seconds. The answer is the same whether the address is known or not.',
    body: EmailCodeInput,
    data: EmailCodeSchema,
    errors: ['MAIL_UNAVAILABLE', 'OPERATION_NOT_ALLOWED'],
    handle: ({ body }, session, unit) => requestEmailCode(deps, unit, session, body.email),
  });
}

function registerIdentify(app: FastifyInstance, deps: SessionRouteDeps): void {
  route(app, {
    access: 'session',
    // The answer shows what was written, in the customer’s own scope.
    transaction: 'outside',
    deps,
    method: 'POST',
    url: `${SESSION}/identify`,
    operationId: 'identifyInWidgetSession',
    tag: WIDGET_TAG,
    summary: 'Confirm an e-mail address with its code',
    description:
      'From here on the session acts for the customer of this address, who is created where the partner has none.',
    body: IdentifyInput,
    data: WidgetSessionSchema,
    errors: ['EMAIL_CODE_INVALID', 'OPERATION_NOT_ALLOWED', 'USER_ALREADY_EXISTS'],
    handle: async ({ body }, session, outside) => {
      const row = outside.isWritten
        ? await readSession(deps.db, session)
        : await unitOfWork(deps, scopeOf(session), async (unit) => {
            const bound = await identify(deps, unit, session, body);
            outside.written(unit);
            return bound;
          });
      return sessionView(deps, session.partner, row);
    },
  });
}

function registerMaking(app: FastifyInstance, deps: SessionRouteDeps): void {
  route(app, {
    access: 'partner',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: '/api/v1/partner/widget-sessions',
    operationId: 'createWidgetSession',
    tag: WIDGET_TAG,
    summary: 'Make a widget session for a customer',
    description:
      'Send the customer to `url`, or hand it to the widget. It opens once, within ten minutes, and the session is then good for four hours. With user_uuid the customer need not confirm an e-mail address.',
    body: PartnerWidgetSessionInput,
    data: PartnerWidgetSessionSchema,
    errors: ['USER_NOT_FOUND', ...START_ERRORS],
    handle: ({ body }, partner, unit) => makeSession(deps, unit, partner, body),
  });
}

function registerMailbox(app: FastifyInstance, deps: SessionRouteDeps): void {
  route(app, {
    access: 'partner',
    transaction: 'none',
    method: 'GET',
    url: '/api/v1/sandbox/mailbox',
    operationId: 'sandboxMailbox',
    tag: 'Sandbox',
    summary: 'Read the e-mails that a customer would have got',
    description: 'A sandbox sends none. Those to addresses of your own customers at the widget, for a day.',
    query: SandboxMailboxQuery,
    data: SandboxMailboxSchema,
    handle: ({ query }, { partnerId }) => readMailbox(deps, partnerId, query.email),
  });
}
