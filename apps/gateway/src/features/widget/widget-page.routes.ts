import type { WidgetBuild } from '@causeway/widget-app/build';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Database } from '../../db/database.ts';
import { type BuiltFiles, createBuiltFiles, IMMUTABLE, sendFile } from '../../http/built-files.ts';
import { openToAnyOrigin, type PreparedAnswer, prepareBytes } from '../../http/prepared-answer.ts';
import type { Principals } from '../../http/principals.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { frameAncestors } from './widget-origins.ts';
import { findPartnerOfSession } from './widget-page.store.ts';
import { renderProblemPage, renderWidgetPage, type WidgetPageData } from './widget-page.view.ts';

export interface WidgetPageDeps {
  readonly db: Database;
  readonly clock: Pick<Clock, 'date'>;
  readonly principals: Pick<Principals, 'find'>;
  readonly logger: Logger;
  readonly sandbox: boolean;
}

const HTML = 'text/html; charset=utf-8';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Pages name one address for years, so that what it gives is looked up again soon. */
const LOADER_CACHING = 'public, max-age=300, stale-while-revalidate=86400';

/** Everything comes from here; nothing in the page is run that is not a file of ours, and no text becomes a script. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data: blob:",
  'media-src blob:',
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
];
const PERMISSIONS = [
  'camera=(self)',
  'clipboard-write=(self)',
  ...['accelerometer', 'autoplay', 'display-capture', 'fullscreen', 'geolocation', 'gyroscope'],
  ...['magnetometer', 'microphone', 'midi', 'payment', 'publickey-credentials-get', 'serial', 'usb'],
]
  .map((feature) => (feature.includes('=') ? feature : `${feature}=()`))
  .join(', ');

export function policyOf(ancestors: string, extra: readonly string[] = []): string {
  return [...POLICY, ...extra, `frame-ancestors ${ancestors}`].join('; ');
}

const NOBODY = "'none'";

/** The loader, the frame and the hosted page. None of them sets a cookie, and none has anything personal in its address. */
export function registerWidgetPages(app: FastifyInstance, deps: WidgetPageDeps): BuiltFiles<WidgetBuild> {
  const files = createBuiltFiles(deps.logger, {
    name: 'widget',
    build: async () => (await import('@causeway/widget-app/build')).buildWidget(),
  });
  // A production deployment says at its start what is missing; a sandbox builds when it is first needed.
  if (!deps.sandbox) void files.build().catch(() => undefined);
  const open = { schema: { hide: true } as object };
  const limited = { ...open, config: { access: 'public' as const } };

  app.get('/widget/v1.js', open, async (request, reply) => {
    openToAnyOrigin(request, reply);
    reply.header('cross-origin-resource-policy', 'cross-origin');
    const loader = await fileOr503(reply, async () => files.find((await files.build()).loader));
    return loader === undefined ? reply : sendFile(request, reply, loader, LOADER_CACHING);
  });

  app.get<{ Params: { '*': string } }>('/widget/assets/*', open, async (request, reply) => {
    reply.header('cross-origin-resource-policy', 'same-origin');
    const name = request.params['*'];
    const file = await fileOr503(reply, () => files.find(name));
    if (reply.sent) return reply;
    if (file === undefined) return reply.code(404).type('text/plain').send('There is no such file.\n');
    return sendFile(request, reply, file, IMMUTABLE);
  });

  app.get<{ Querystring: PageQuery }>('/widget/frame', limited, (request, reply) =>
    answerPage(deps, files, 'frame', request, reply),
  );
  app.get<{ Querystring: PageQuery }>('/widget/checkout', limited, (request, reply) =>
    answerPage(deps, files, 'page', request, reply),
  );
  return files;
}

interface PageQuery {
  readonly key?: unknown;
  readonly session?: unknown;
}

async function answerPage(
  deps: WidgetPageDeps,
  files: BuiltFiles<WidgetBuild>,
  kind: WidgetPageData['kind'],
  request: FastifyRequest<{ Querystring: PageQuery }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  reply.headers({
    'referrer-policy': 'no-referrer',
    'permissions-policy': PERMISSIONS,
    'cross-origin-opener-policy': 'same-origin',
  });
  const build = await files.build().catch(() => undefined);
  if (build === undefined) {
    return refuse(
      request,
      reply,
      503,
      'Not available',
      'The operator has not built the widget yet: npm run widget:build',
      undefined,
    );
  }
  const owner = await ownerOf(deps, request.query);
  if (owner === undefined) {
    const text =
      'The page that brought you here names a key or a session that does not exist or has ended. Go back to it and try again.';
    return refuse(request, reply, 404, 'This link does not work', text, build.styles);
  }
  const ancestors = kind === 'page' ? NOBODY : frameAncestors(owner.origins, deps.sandbox);
  reply.header('content-security-policy', policyOf(ancestors));
  // A list of origins is more than that header can say; browsers that know frame-ancestors go by it alone.
  if (kind === 'page') reply.header('x-frame-options', 'DENY');
  const { widgetKey, sessionId } = owner;
  const origins = ancestors === NOBODY ? [] : ancestors.split(' ');
  const html = renderWidgetPage({ kind, widgetKey, sessionId, origins }, owner.name, build);
  return sendFile(request, reply, prepareBytes(Buffer.from(html), HTML), 'no-store');
}

interface PageOwner {
  readonly name: string;
  readonly origins: readonly string[];
  readonly widgetKey: string | null;
  readonly sessionId: string | null;
}

async function ownerOf(
  { principals, db, clock }: WidgetPageDeps,
  { key, session }: PageQuery,
): Promise<PageOwner | undefined> {
  if (typeof key === 'string' && session === undefined) {
    const principal = await principals.find(key);
    if (principal?.kind !== 'widget') return undefined;
    const { name, widgetOrigins } = principal.partner;
    return { name, origins: widgetOrigins, widgetKey: key, sessionId: null };
  }
  if (typeof session !== 'string' || key !== undefined || !UUID.test(session)) return undefined;
  const found = await findPartnerOfSession(db, session, clock.date());
  if (found === undefined) return undefined;
  const { partner_name: name, widget_origins: origins } = found;
  return { name, origins, widgetKey: null, sessionId: session };
}

/** A page without a script that nobody may frame. */
function refuse(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  title: string,
  text: string,
  styles: string | undefined,
): Promise<FastifyReply> {
  reply.code(status).headers({ 'content-security-policy': policyOf(NOBODY), 'x-frame-options': 'DENY' });
  const page = prepareBytes(Buffer.from(renderProblemPage(title, text, styles)), HTML);
  return sendFile(request, reply, page, 'no-store');
}

async function fileOr503(
  reply: FastifyReply,
  find: () => Promise<PreparedAnswer | undefined>,
): Promise<PreparedAnswer | undefined> {
  try {
    return await find();
  } catch {
    reply.code(503).type('text/plain').send('The widget is not built: npm run widget:build\n');
    return undefined;
  }
}
