import { Agent } from 'undici';
import { hmacSha256Hex, type Sealer } from '../../lib/crypto.ts';
import { createNameResolver } from '../../lib/name-resolver.ts';
import {
  ADDRESS_NOT_ALLOWED,
  type AddressPolicy,
  guardedLookup,
  isLoopbackHost,
  judgeUrl,
  type Resolver,
} from './webhook-address.ts';

/** What a webhook secret is sealed for: it opens for this partner only. */
export function webhookSecretContext(partnerId: string): string {
  return `partners.webhook_secret:${partnerId}`;
}

/** The secrets that sign now: the current one and, during an overlap, the one before it. */
export interface SigningSecrets {
  readonly current: string;
  readonly previous?: string;
}

export interface SealedSecrets {
  readonly webhook_secret_sealed: string;
  readonly webhook_previous_secret_sealed: string | null;
  readonly webhook_previous_secret_until: Date | null;
}

/** What the secret of a further endpoint is sealed for. */
export function endpointSecretContext(endpointId: string): string {
  return `webhook_endpoints.secret:${endpointId}`;
}

/** Of either kind: the default endpoint of a partner goes by the partner's id. */
export function secretContextOf(partnerId: string, endpointId: string): string {
  return endpointId === partnerId ? webhookSecretContext(partnerId) : endpointSecretContext(endpointId);
}

export type OpenSecrets = (context: string, sealed: SealedSecrets, now: number) => SigningSecrets;

const KEPT_SECRETS = 2_000;

/** Opens secrets and remembers the latest: an endpoint's deliveries come in bursts and all need the same one. */
export function secretOpener(sealer: Sealer): OpenSecrets {
  const opened = new Map<string, string>();

  function open(sealed: string, context: string): string {
    const key = `${context}:${sealed}`;
    const known = opened.get(key);
    if (known !== undefined) return known;
    const secret = sealer.open(sealed, context);
    if (opened.size >= KEPT_SECRETS) opened.clear();
    opened.set(key, secret);
    return secret;
  }

  return (context, sealed, now) => {
    const current = open(sealed.webhook_secret_sealed, context);
    const { webhook_previous_secret_sealed: previous, webhook_previous_secret_until: until } = sealed;
    if (previous === null || until === null || until.getTime() <= now) return { current };
    return { current, previous: open(previous, context) };
  };
}

/** Signs a body and posts it: at most ten seconds in all, no redirects, kept-alive connections. */
export interface WebhookSender {
  send(message: OutgoingWebhook): Promise<SendResult>;
  close(): Promise<void>;
}

export interface OutgoingWebhook {
  readonly url: string;
  readonly secrets: SigningSecrets;
  readonly body: string;
  /** Told to further endpoints; the default one is sent what it always was. */
  readonly apiVersion?: string | null;
}

/** Why no complete answer came; words for partners, without a library's or a resolver's own text. */
export type SendFailure =
  | 'url_not_allowed'
  | 'address_not_allowed'
  | 'timeout'
  | 'connection_failed'
  | 'answer_incomplete';

export interface WebhookAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The first bytes of the answer's body. */
  readonly excerpt: string;
  /** Whether there was more of it. */
  readonly cut: boolean;
}

/** What differs from one request to the next. */
export interface RequestStamp {
  readonly timestamp: string;
  readonly signature: string;
  /** With the secret before, during an overlap. */
  readonly previous?: string;
}

export type SendResult = {
  /** Null where nothing was sent. */
  readonly sent: RequestStamp | null;
  readonly durationMs: number;
} & (
  | ({ readonly kind: 'answered' } & WebhookAnswer)
  | { readonly kind: 'failed'; readonly reason: SendFailure }
);

export interface WebhookSenderOptions {
  /** Connecting, sending and reading the answer together. */
  readonly timeoutMs?: number;
  readonly resolve?: Resolver;
}

const TOTAL_TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;
const EXCERPT_BYTES = 4_096;

export function createWebhookSender(
  policy: AddressPolicy,
  wallSeconds: () => number,
  options: WebhookSenderOptions = {},
): WebhookSender {
  const timeoutMs = options.timeoutMs ?? TOTAL_TIMEOUT_MS;
  const connect = {
    lookup: guardedLookup(policy, options.resolve ?? createNameResolver().lookup),
    timeout: timeoutMs,
  };
  // No limit a host: several partners may share one, and an attempt that waited its time out in a queue was never made.
  // How many are under way is the caller's to decide.
  const common = { connections: null, pipelining: 1, keepAliveTimeout: 30_000 };
  const agent = new Agent({ ...common, connect });
  // Only this machine itself may show a self-signed certificate, and only where loopback is allowed.
  const loopbackAgent = new Agent({ ...common, connect: { ...connect, rejectUnauthorized: false } });

  async function exchange(
    url: URL,
    body: string,
    headers: Record<string, string>,
    signal: AbortSignal,
    progress: { answering: boolean },
  ): Promise<WebhookAnswer> {
    const response = await (isLoopbackHost(url.hostname) ? loopbackAgent : agent).request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: 'POST',
      headers,
      body,
      signal,
    });
    progress.answering = true;
    const { statusCode: status, headers: answered } = response;
    return { status, headers: answered, ...(await readExcerpt(response.body)) };
  }

  return {
    async send(message) {
      const began = performance.now();
      const elapsed = () => Math.round(performance.now() - began);
      const judged = judgeUrl(message.url, policy);
      if ('problem' in judged)
        return { kind: 'failed', reason: 'url_not_allowed', sent: null, durationMs: 0 };
      const sent = stampOf(message, wallSeconds());
      const headers = requestHeaders(sent, message.apiVersion ?? null);
      const abort = new AbortController();
      const progress = { answering: false };
      const timer = setTimeout(() => abort.abort(), timeoutMs);
      try {
        const answer = await exchange(judged.url, message.body, headers, abort.signal, progress);
        return { kind: 'answered', ...answer, sent, durationMs: elapsed() };
      } catch (error) {
        const reason = abort.signal.aborted ? 'timeout' : reasonOf(error, progress.answering);
        return { kind: 'failed', reason, sent, durationMs: elapsed() };
      } finally {
        clearTimeout(timer);
      }
    },
    async close() {
      await Promise.all([agent.destroy(), loopbackAgent.destroy()]);
    },
  };
}

/** Every attempt is stamped and signed anew, so that a receiver may refuse old stamps. */
function stampOf({ secrets, body }: OutgoingWebhook, unixSeconds: number): RequestStamp {
  const timestamp = String(unixSeconds);
  const sign = (secret: string) => `sha256=${hmacSha256Hex(secret, `${timestamp}.${body}`)}`;
  return {
    timestamp,
    signature: sign(secrets.current),
    ...(secrets.previous === undefined ? {} : { previous: sign(secrets.previous) }),
  };
}

/** All headers of a request that it chooses itself: as they are sent, and as the log shows them. */
export function requestHeaders(
  { timestamp, signature, previous }: RequestStamp,
  apiVersion: string | null,
): Record<string, string> {
  return {
    'content-type': 'application/json',
    'user-agent': 'Causeway-Webhooks/1',
    'x-service-timestamp': timestamp,
    'x-service-signature': signature,
    ...(previous === undefined ? {} : { 'x-service-signature-previous': previous }),
    ...(apiVersion === null ? {} : { 'x-service-api-version': apiVersion }),
  };
}

/** Reads to the end so that the connection can be used again, but never more than the cap. */
async function readExcerpt(
  body: AsyncIterable<Buffer> & { destroy(): unknown },
): Promise<Pick<WebhookAnswer, 'excerpt' | 'cut'>> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    if (bytes < EXCERPT_BYTES) chunks.push(chunk);
    bytes += chunk.length;
    // The status has been said; leaving the loop closes a connection that will not stop talking.
    if (bytes > MAX_ANSWER_BYTES) break;
  }
  const excerpt = Buffer.concat(chunks).subarray(0, EXCERPT_BYTES).toString('utf8');
  return { excerpt, cut: bytes > EXCERPT_BYTES };
}

function reasonOf(error: unknown, answering: boolean): SendFailure {
  if (answering) return 'answer_incomplete';
  if (error instanceof Error && error.message === ADDRESS_NOT_ALLOWED) return 'address_not_allowed';
  return 'connection_failed';
}
