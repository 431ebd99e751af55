import Fastify from 'fastify';
import { type ApiDocument, classOfScheme } from './api-operations.ts';
import type { Chapter } from './doc-pages.ts';
import { renderFrame } from './layout.ts';
import type { SandboxKeys } from './sandbox-keys.ts';

/** The page of the API reference. Scalar draws it in the browser from the description; assets/reference.js starts it. */
export function renderReference(
  chapters: readonly Chapter[],
  sandbox: boolean,
  api: ApiDocument,
  keys: SandboxKeys | undefined,
): string {
  return renderFrame({
    title: 'API reference',
    description: 'Every operation of the Causeway API, with examples and requests to try.',
    url: '/docs/reference',
    chapters,
    sandbox,
    layout: 'wide',
    main: `${keysNote(sandbox, keys)}<div id="reference"><p class="wait">Loading the API reference …</p></div>`,
    head: `<script src="/docs/assets/scalar.js" defer></script>
<script type="module" src="/docs/assets/reference.js"></script>
<script type="application/json" id="reference-settings">${dataBlock(settings(api, keys))}</script>`,
  });
}

function keysNote(sandbox: boolean, keys: SandboxKeys | undefined): string {
  if (!sandbox) return '';
  const text =
    keys === undefined
      ? 'The keys of this sandbox are in <code>sandbox.json</code>, on the machine it runs on.'
      : 'The keys of this sandbox are filled in: <strong>Test Request</strong> sends the one that the operation takes.';
  return `<p class="keys-note${keys === undefined ? '' : ' filled-in'}">${text}</p>`;
}

function settings(api: ApiDocument, keys: SandboxKeys | undefined): object {
  return {
    url: '/api/v1/openapi.json',
    // Nothing is fetched from elsewhere: the page works without internet.
    withDefaultFonts: false,
    telemetry: false,
    hideClientButton: true,
    showDeveloperTools: 'never',
    agent: { disabled: true },
    mcp: { disabled: true },
    // One search over guides and operations: the bar's.
    hideSearch: true,
    hideDarkModeToggle: true,
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
    authentication: filledIn(api, keys),
  };
}

/** Each scheme of the description with the sandbox's key of its class. */
function filledIn(api: ApiDocument, keys: SandboxKeys | undefined): object {
  if (keys === undefined) return {};
  const schemes = Object.entries(api.components?.securitySchemes ?? {}).flatMap(([name, { type }]) => {
    const keyClass = classOfScheme(name);
    if (keyClass === undefined) return [];
    const value = keys[keyClass];
    return [[name, type === 'http' ? { token: value } : { value }] as const];
  });
  return { securitySchemes: Object.fromEntries(schemes) };
}

/** JSON that no HTML parser takes for the end of its element. */
function dataBlock(value: object): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}

/**
 * Scalar's script, 4 MB. Its package gives it only through its plugin for Fastify, so a server that never listens is asked
 * for it, when a reader first opens the page: a start neither reads nor holds it.
 */
export async function scalarScript(): Promise<Buffer> {
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  const shelf = Fastify();
  await shelf.register(scalar, { routePrefix: '/reference', configuration: { url: '/' } });
  const { rawPayload } = await shelf.inject('/reference/js/scalar.js');
  await shelf.close();
  return rawPayload;
}
