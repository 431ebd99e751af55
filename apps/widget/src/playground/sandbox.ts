/** What the playground asks of the sandbox, with the partner’s secret key: only a page on the machine itself has one. */
export interface PlaygroundChain {
  readonly slug: string;
  readonly chainId: number;
  readonly tokens: readonly string[];
}

export interface PlaygroundData {
  readonly baseUrl: string;
  readonly widgetKey: string | null;
  readonly partnerKey: string | null;
  readonly chains: readonly PlaygroundChain[];
  readonly locales: readonly string[];
  readonly orderEvents: readonly string[];
}

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly sent_at: string;
}

export interface PartnerEvent {
  readonly event_type: string;
  readonly [field: string]: unknown;
}

interface Envelope {
  readonly success?: boolean;
  readonly data?: unknown;
  readonly error?: { readonly code?: string; readonly message?: string };
}

export function createSandbox(partnerKey: string) {
  async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(`/api/v1${path}`, {
      method,
      credentials: 'omit',
      headers: {
        'x-api-key': partnerKey,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = (await response.json().catch(() => ({}))) as Envelope;
    if (answer.success === true) return answer.data as T;
    throw new Error(answer.error?.message ?? `The sandbox answered ${response.status}.`);
  }

  return {
    makeSession: (input: object) => call<{ url: string }>('POST', '/partner/widget-sessions', input),
    orderEvent: (orderId: string, event: string) =>
      call<{ status: string }>('POST', `/sandbox/orders/${encodeURIComponent(orderId)}/events`, { event }),
    advanceClock: (seconds: number) => call<{ now: string }>('POST', '/sandbox/clock/advance', { seconds }),
    resetClock: () => call<{ now: string }>('POST', '/sandbox/clock/reset'),
    faucet: (chain: string, token: string, address: string, amount: string) =>
      call<{ transaction_hash: string }>('POST', '/sandbox/faucet', { chain, token, address, amount }),
    mailbox: (email: string) =>
      call<{ messages: Mail[] }>('GET', `/sandbox/mailbox?email=${encodeURIComponent(email)}`),
    follow: (heard: (event: PartnerEvent) => void) => followEvents(partnerKey, heard),
  };
}

export type Sandbox = ReturnType<typeof createSandbox>;

const RECONNECT_MS = 2_000;

/** The same bodies that the partner’s webhooks carry, as they happen; a broken stream goes on where it stopped. */
function followEvents(partnerKey: string, heard: (event: PartnerEvent) => void): () => void {
  const stop = new AbortController();
  let last: string | undefined;
  const read = async () => {
    const response = await fetch('/api/v1/partner/events', {
      signal: stop.signal,
      credentials: 'omit',
      headers: {
        accept: 'text/event-stream',
        'x-api-key': partnerKey,
        ...(last === undefined ? {} : { 'last-event-id': last }),
      },
    });
    if (!response.ok || response.body === null) throw new Error('no stream');
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const messages = (text + value).split(/\r?\n\r?\n/);
      text = messages.pop() ?? '';
      for (const message of messages) {
        // Lines end at a line feed only: JSON leaves U+2028 as it is, where `m` and `.` would end one.
        const field = (name: string) => new RegExp(`(?:^|\\n)${name}: ?([^\\r\\n]*)`).exec(message)?.[1];
        last = field('id') ?? last;
        const data = field('data');
        if (data !== undefined) heard(JSON.parse(data) as PartnerEvent);
      }
    }
  };
  const keepReading = async () => {
    while (!stop.signal.aborted) {
      await read().catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS));
    }
  };
  void keepReading();
  return () => stop.abort();
}

/** The chains have no address that a page may call; the sandbox passes on what the test wallet needs. */
export async function chainRpc(chain: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const response = await fetch(`/widget/playground/rpc/${encodeURIComponent(chain)}`, {
    method: 'POST',
    credentials: 'omit',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ method, params }),
  });
  const answer = (await response.json()) as { result?: unknown; error?: { message?: string } };
  if (answer.error !== undefined) throw new Error(answer.error.message ?? 'The chain refused it.');
  return answer.result;
}
