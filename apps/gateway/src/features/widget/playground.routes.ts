import { SANDBOX_ORDER_EVENTS, WIDGET_LOCALES } from '@causeway/protocol';
import type { WidgetBuild } from '@causeway/widget-app/build';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Chains } from '../../chain/chains.ts';
import { type BuiltFiles, sendFile } from '../../http/built-files.ts';
import { isLocalCaller, type SandboxKeys } from '../../http/docs/sandbox-keys.ts';
import { prepareBytes } from '../../http/prepared-answer.ts';
import { policyOf } from './widget-page.routes.ts';
import { renderPlayground } from './widget-page.view.ts';

export interface PlaygroundDeps {
  readonly chains: Chains;
  readonly baseUrl: string;
  readonly sandboxKeys: SandboxKeys | undefined;
  readonly files: BuiltFiles<WidgetBuild>;
}

/** What the test wallet of the page needs of a chain: to read, and to send what it has signed itself. */
const RPC_METHODS = new Set([
  'eth_chainId',
  'eth_gasPrice',
  'eth_estimateGas',
  'eth_getBalance',
  'eth_getTransactionCount',
  'eth_getTransactionReceipt',
  'eth_sendRawTransaction',
]);
const RPC_TIMEOUT_MS = 10_000;

/** Registered by sandbox deployments only; elsewhere these paths do not exist. */
export function registerPlayground(app: FastifyInstance, deps: PlaygroundDeps): void {
  const { chains, files, sandboxKeys } = deps;
  const open = { schema: { hide: true } as object };

  app.get('/widget/playground', open, async (request, reply) => {
    const build = await files.build();
    // The secret key is for pages on the machine itself, as in the docs.
    const isLocal = isLocalCaller(request);
    const data = {
      baseUrl: originOf(deps.baseUrl, request.headers.host, isLocal),
      widgetKey: isLocal ? (sandboxKeys?.widget ?? null) : null,
      partnerKey: isLocal ? (sandboxKeys?.partner ?? null) : null,
      chains: chains.all.map(({ settings: { slug, chainId, tokens } }) => ({
        slug,
        chainId,
        tokens: tokens.map(({ code }) => code),
      })),
      locales: WIDGET_LOCALES,
      orderEvents: SANDBOX_ORDER_EVENTS,
    };
    reply.header('content-security-policy', policyOf("'none'", ["frame-src 'self'"]));
    reply.header('cross-origin-resource-policy', 'same-origin');
    const page = prepareBytes(Buffer.from(renderPlayground(data, build)), 'text/html; charset=utf-8');
    return sendFile(request, reply, page, 'no-store');
  });

  app.post<{ Params: { chain: string }; Body: { method?: unknown; params?: unknown } | undefined }>(
    '/widget/playground/rpc/:chain',
    open,
    async (request, reply) => {
      const { method, params } = request.body ?? {};
      const chain = chains.all.find(({ settings }) => settings.slug === request.params.chain);
      if (!isLocalCaller(request) || chain === undefined)
        return refuse(reply, 'There is no such chain here.');
      if (typeof method !== 'string' || !RPC_METHODS.has(method) || !Array.isArray(params)) {
        return refuse(reply, 'The playground passes no such call on.');
      }
      const answer = await fetch(chain.settings.rpcUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
        signal: AbortSignal.timeout(RPC_TIMEOUT_MS),
      });
      return reply.type('application/json').send(await answer.text());
    },
  );
}

function refuse(reply: FastifyReply, message: string): FastifyReply {
  return reply.code(403).send({ error: { message } });
}

/** The page frames what comes from the origin that it was itself asked for by, localhost or 127.0.0.1. */
function originOf(baseUrl: string, host: string | undefined, isLocal: boolean): string {
  return isLocal && host !== undefined ? `${new URL(baseUrl).protocol}//${host}` : new URL(baseUrl).origin;
}
