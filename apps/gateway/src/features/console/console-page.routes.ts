import { randomBytes } from 'node:crypto';
import type { ConsoleBuild } from '@causeway/console/build';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createBuiltFiles, IMMUTABLE, sendFile } from '../../http/built-files.ts';
import { prepareBytes } from '../../http/prepared-answer.ts';
import type { Logger } from '../../lib/logger.ts';

const HTML = 'text/html; charset=utf-8';
const NONCE_BYTES = 16;

/**
 * Everything comes from here. Styles of components are added by the scripts with the page’s own nonce; no text becomes a script.
 * The wallet of a browser speaks to the page through an object, so that no other address has to be reached.
 */
const policyOf = (nonce: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "connect-src 'self'",
    "img-src 'self' data: blob:",
    "object-src 'self' blob:",
    "frame-src 'self' blob:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/** The application, the same page at every address below /console: who is signed in is asked by its script. */
export function registerConsolePages(
  app: FastifyInstance,
  { logger, sandbox }: { readonly logger: Logger; readonly sandbox: boolean },
): void {
  const files = createBuiltFiles(logger, {
    name: 'console',
    subfolder: 'assets',
    build: async () => (await import('@causeway/console/build')).buildConsole(),
  });
  // A production deployment says at its start what is missing; a sandbox builds when it is first needed.
  if (!sandbox) void files.build().catch(() => undefined);
  const open = { schema: { hide: true } as object };
  const limited = { ...open, config: { access: 'public' as const } };

  app.get<{ Params: { '*': string } }>('/console/assets/*', open, async (request, reply) => {
    const file = await files.find(request.params['*']).catch(() => undefined);
    reply.header('cross-origin-resource-policy', 'same-origin');
    if (file === undefined) return reply.code(404).type('text/plain').send('There is no such file.\n');
    return sendFile(request, reply, file, IMMUTABLE);
  });

  const page = async (request: FastifyRequest, reply: FastifyReply) => {
    const nonce = randomBytes(NONCE_BYTES).toString('base64');
    reply.headers({
      'content-security-policy': policyOf(nonce),
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
      'cross-origin-opener-policy': 'same-origin',
    });
    const build = await files.build().catch(() => undefined);
    if (build === undefined) {
      return reply.code(503).type('text/plain').send('The console is not built: npm run console:build\n');
    }
    return sendFile(request, reply, prepareBytes(Buffer.from(renderPage(build, nonce)), HTML), 'no-store');
  };
  app.get('/console', limited, page);
  app.get('/console/*', limited, page);
}

function renderPage({ scripts, styles }: ConsoleBuild, nonce: string): string {
  const [main = '', ...chunks] = scripts;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>Causeway</title>
<link rel="icon" href="/docs/assets/icon.svg">
${styles.map((name) => `<link rel="stylesheet" href="/console/${name}">`).join('\n')}
${chunks.map((name) => `<link rel="modulepreload" href="/console/${name}">`).join('\n')}
<script type="module" nonce="${nonce}" src="/console/${main}"></script>
</head>
<body>
<div id="console"></div>
<noscript>The console needs JavaScript.</noscript>
</body>
</html>
`;
}
