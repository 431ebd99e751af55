import { readChunks, readRequest } from './read-body.ts';
import {
  createReceiver,
  memoryStore,
  type ReceiverAnswer,
  type ReceiverOptions,
  refused,
} from './receive.ts';

/** What the handlers need of a framework; none of them is a dependency. */

type NodeHeaders = Readonly<Record<string, string | string[] | undefined>>;

export interface NodeRequestLike extends AsyncIterable<unknown> {
  readonly method?: string | undefined;
  readonly headers: NodeHeaders;
}

export interface NodeResponseLike {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(text: string): unknown;
}

export interface ExpressRequestLike extends NodeRequestLike {
  /** Bytes behind `express.raw()`; absent where no parser ran. */
  readonly body?: unknown;
}

export interface FastifyLike {
  // biome-ignore lint/suspicious/noExplicitAny: Fastify's own types depend on the server's.
  addContentTypeParser(type: string, options: { parseAs: 'buffer' }, parser: any): unknown;
  removeContentTypeParser(type: string): unknown;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  route(route: any): unknown;
}

export interface HonoContextLike {
  readonly req: { readonly raw: Request };
}

const TOO_LARGE = refused(413, 'too_large');

/**
 * @example
 * const webhook = nodeHandler({ secret, onEvent });
 * createServer((request, response) => webhook(request, response)).listen(3000);
 */
export function nodeHandler(
  options: ReceiverOptions,
): (request: NodeRequestLike, response: NodeResponseLike) => Promise<void> {
  const receive = createReceiver(options);
  return async (request, response) => {
    if (request.method !== undefined && request.method !== 'POST') {
      return answerNode(response, refused(405, 'post_only'));
    }
    const body = await readChunks(request).catch(() => undefined);
    answerNode(response, body === undefined ? TOO_LARGE : await receive(body, request.headers));
  };
}

/**
 * Before `express.json()`, or behind `express.raw({ type: 'application/json' })`: a parsed body cannot be checked.
 *
 * @example app.post('/webhooks/causeway', expressHandler({ secret, onEvent }));
 */
export function expressHandler(
  options: ReceiverOptions,
): (request: ExpressRequestLike, response: NodeResponseLike) => Promise<void> {
  const shared = { ...options, store: options.store ?? memoryStore() };
  const receive = createReceiver(shared);
  const unparsed = nodeHandler(shared);
  return async (request, response) => {
    if (request.body === undefined) return unparsed(request, response);
    // What a JSON parser made of it is refused by name, and `onError` is told.
    answerNode(response, await receive(request.body as Uint8Array, request.headers));
  };
}

/**
 * A plugin: its own scope takes JSON as bytes, and the rest of the server is as it was.
 *
 * @example await app.register(fastifyHandler({ path: '/webhooks/causeway', secret, onEvent }));
 */
export function fastifyHandler(
  options: ReceiverOptions & { readonly path: string },
): (app: FastifyLike) => Promise<void> {
  const receive = createReceiver(options);
  return async (app) => {
    app.removeContentTypeParser('application/json');
    app.addContentTypeParser(
      'application/json',
      { parseAs: 'buffer' },
      (_request: unknown, body: Uint8Array, done: (error: null, body: Uint8Array) => void) =>
        done(null, body),
    );
    app.route({
      method: 'POST',
      url: options.path,
      async handler(
        request: { readonly body: Uint8Array; readonly headers: NodeHeaders },
        reply: { code(status: number): unknown },
      ) {
        const { status, body } = await receive(request.body, request.headers);
        reply.code(status);
        return body;
      },
    });
  };
}

/**
 * For runtimes of `Request` and `Response`: Next route handlers, Deno, Bun, workers.
 *
 * @example export const POST = fetchHandler({ secret, onEvent });
 */
export function fetchHandler(options: ReceiverOptions): (request: Request) => Promise<Response> {
  const receive = createReceiver(options);
  return async (request) => {
    if (request.method !== 'POST') return asResponse(refused(405, 'post_only'));
    const body = await readRequest(request);
    return asResponse(body === undefined ? TOO_LARGE : await receive(body, request.headers));
  };
}

/** @example export const POST = nextHandler({ secret, onEvent }); // app/webhooks/causeway/route.ts */
export function nextHandler(options: ReceiverOptions): (request: Request) => Promise<Response> {
  return fetchHandler(options);
}

/** @example app.post('/webhooks/causeway', honoHandler({ secret, onEvent })); */
export function honoHandler(options: ReceiverOptions): (context: HonoContextLike) => Promise<Response> {
  const handle = fetchHandler(options);
  return ({ req }) => handle(req.raw);
}

function answerNode(response: NodeResponseLike, { status, body }: ReceiverAnswer): void {
  response.statusCode = status;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(body));
}

function asResponse({ status, body }: ReceiverAnswer): Response {
  return new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });
}
