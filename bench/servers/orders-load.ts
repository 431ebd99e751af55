import autocannon, { type Request } from 'autocannon';

/**
 * A partner's load on quotes and orders, from a process of its own: one message in, one message out. Other than the
 * frame's generator it asks for what an earlier answer named, and for another order every time.
 */
export type OrdersLoad =
  | { readonly kind: 'quote-then-initiate'; readonly userId: string }
  | { readonly kind: 'read'; readonly orderIds: readonly string[] };

export interface OrdersLoadOptions {
  readonly url: string;
  readonly apiKey: string;
  readonly connections: number;
  readonly durationSeconds: number;
  readonly load: OrdersLoad;
}

export type OrdersLoadReply =
  | { readonly ok: true; readonly requestsPerSecond: number }
  | { readonly ok: false; readonly message: string };

process.once('message', (options: OrdersLoadOptions) => {
  void generate(options)
    .catch((error: unknown): OrdersLoadReply => ({ ok: false, message: String(error) }))
    .then((reply) => process.send?.(reply, () => process.disconnect()));
});

async function generate(options: OrdersLoadOptions): Promise<OrdersLoadReply> {
  const { url, apiKey, connections, durationSeconds, load } = options;
  const result = await autocannon({
    url,
    connections,
    duration: durationSeconds,
    sampleInt: 200,
    headers: { 'content-type': 'application/json', 'x-api-key': apiKey },
    requests: requestsOf(new URL(url).pathname.replace(/\/$/, ''), load),
  });
  const failed = result.non2xx + result.errors;
  if (failed > 0 || result['2xx'] === 0)
    return { ok: false, message: `${failed} requests failed, ${result['2xx']} were served` };
  return { ok: true, requestsPerSecond: result['2xx'] / result.duration };
}

function requestsOf(path: string, load: OrdersLoad): Request[] {
  if (load.kind === 'read') {
    const { orderIds } = load;
    return [
      {
        method: 'GET',
        setupRequest: (request) => ({
          ...request,
          path: `${path}/orders/${orderIds[Math.floor(Math.random() * orderIds.length)]}`,
        }),
      },
    ];
  }
  const terms = {
    crypto_currency: 'USDC',
    fiat_currency: 'EUR',
    fiat_amount: '100.00',
    partner_fee_pct: '1',
  };
  return [
    {
      method: 'POST',
      path: `${path}/onramp/quote`,
      body: JSON.stringify({ ...terms, user_uuid: load.userId }),
      onResponse: (_status, body, context) => {
        context.quoteId = /"quote_id":"([^"]+)"/.exec(body)?.[1] ?? '';
      },
    },
    {
      method: 'POST',
      path: `${path}/onramp/initiate`,
      setupRequest: (request, context) => ({
        ...request,
        body: JSON.stringify({ quote_id: context.quoteId }),
      }),
    },
  ];
}
