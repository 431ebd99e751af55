import { ACTION_ENDPOINTS, type PartnerAction } from '@causeway/protocol/machines';
import type { Order, PaymentDetails } from '@causeway/sdk';

/** A call with this order’s id in it, as a shell and as a program say it. */
export interface Sample {
  readonly title: string;
  readonly curl: string;
  readonly code: string;
}

interface Call {
  /** Of the SDK. */
  readonly method: string;
  readonly parameters?: string;
  readonly sign?: string;
  readonly title: string;
}

const CALLS: Readonly<Record<PartnerAction, Call>> = {
  'submit-payer-details': { method: 'submitPayerDetails', title: 'Say who pays' },
  'confirm-payment-sent': { method: 'confirmPaymentSent', title: 'Confirm that the payment was sent' },
  'authorize-crypto-transfer': {
    method: 'authorizeTransfer',
    parameters: 'transferParameters',
    sign: 'signTransfer',
    title: 'Sign the transfer into escrow',
  },
  'confirm-fiat-received': { method: 'confirmFiatReceived', title: 'Confirm that the money arrived' },
  'authorize-bridge': {
    method: 'authorizeBridge',
    parameters: 'bridgeParameters',
    sign: 'signBridge',
    title: 'Send the crypto to another network',
  },
  'authorize-refund': {
    method: 'authorizeRefund',
    parameters: 'refundParameters',
    sign: 'signRefund',
    title: 'Sign the refund',
  },
  'authorize-release': {
    method: 'authorizeRelease',
    parameters: 'releaseParameters',
    sign: 'signRelease',
    title: 'Sign the release',
  },
  cancel: { method: 'cancel', title: 'Cancel the order' },
};

/** Of a customer’s saved accounts those that may pay the order: the service takes no other rail, and no other currency. */
export function payersOf<Account extends Pick<PaymentDetails, 'rail' | 'currency'>>(
  { payment_network_slug, amounts }: Pick<Order, 'payment_network_slug' | 'amounts'>,
  saved: readonly Account[],
): readonly Account[] {
  return saved.filter(
    ({ rail, currency }) => rail === payment_network_slug && currency === amounts.fiat_currency,
  );
}

export function titleOfAction(action: PartnerAction): string {
  return CALLS[action].title;
}

const KEY = '-H "X-API-Key: $CAUSEWAY_API_KEY"';
const CLIENT = [
  "import { Causeway } from '@causeway/sdk';",
  '',
  'const causeway = new Causeway({ apiKey: process.env.CAUSEWAY_API_KEY });',
];

/** The calls that the order allows now, the one it waits for first; a look at it where it allows none. */
export function samplesOf(order: Order, origin: string): Sample[] {
  const path = `${origin}/api/v1/partner/orders/${order.order_id}`;
  const awaited = order.action_required?.endpoint.split('/').at(-1);
  const actions = (order.allowed_actions as PartnerAction[])
    .filter((action) => action in CALLS)
    .sort((a, b) => Number(b === awaited) - Number(a === awaited));
  const look: Sample = {
    title: 'Look at the order',
    curl: `curl ${path} \\\n  ${KEY}`,
    code: [
      ...CLIENT,
      `const order = await causeway.orders.get('${order.order_id}');`,
      'console.log(order.status, order.next_action);',
    ].join('\n'),
  };
  return [...actions.map((action) => sampleOf(order, action, path)), look];
}

function sampleOf(order: Order, action: PartnerAction, path: string): Sample {
  const { title, method, parameters, sign } = CALLS[action];
  const id = order.order_id;
  const post = (body: string) =>
    `curl -X POST ${path}/${action} \\\n  ${KEY} -H "Content-Type: application/json" \\\n  -H "Idempotency-Key: $(uuidgen)"${body === '' ? '' : ` \\\n  -d '${body}'`}`;
  if (sign === undefined || parameters === undefined) {
    const body = PLAIN_BODIES[action] ?? '';
    const given = body === '' ? '' : `, ${body.replaceAll(/"(\w+)":/g, '$1: ').replaceAll('"', "'")}`;
    return {
      title,
      curl: post(body),
      code: [...CLIENT, `await causeway.orders.${method}('${id}'${given});`].join('\n'),
    };
  }
  const isBridge = action === 'authorize-bridge';
  const query = isBridge ? '?destination_chain=arbitrum-one&destination_address=0x…' : '';
  const read = `curl "${path}/${ACTION_ENDPOINTS[action].parameters}${query}" \\\n  ${KEY}`;
  const signed = {
    'authorize-crypto-transfer': '{"forward_request":{…},"signature":"0x…"}',
    'authorize-bridge':
      '{"destination_chain":"arbitrum-one","destination_address":"0x…","forward_request":{…},"signature":"0x…"}',
  } as Readonly<Record<string, string>>;
  return {
    title,
    curl: `# what to sign\n${read}\n\n# with the signature of your wallet\n${post(signed[action] ?? '{"signature":"0x…"}')}`,
    code: signingCode(id, method, parameters, sign, isBridge),
  };
}

const PLAIN_BODIES: Readonly<Partial<Record<PartnerAction, string>>> = {
  cancel: '{"reason":"The customer changed their mind"}',
  'submit-payer-details': '{"payment_details_id":42}',
};

function signingCode(
  id: string,
  method: string,
  parameters: string,
  sign: string,
  isBridge: boolean,
): string {
  const [head = '', ...rest] = CLIENT;
  const destination = "{ destination_chain: 'arbitrum-one', destination_address: '0x…' }";
  return [
    head,
    `import { ${sign}, viemSigner } from '@causeway/sdk/signing';`,
    ...rest,
    `const order = await causeway.orders.get('${id}');`,
    ...(isBridge
      ? [
          `const destination = ${destination};`,
          `const parameters = await causeway.orders.${parameters}(order.order_id, destination);`,
          `// trust: what you know without asking the service, see the guide to signing`,
          `const body = await ${sign}({ order, parameters, destination, trust }, viemSigner(account));`,
        ]
      : [
          `const parameters = await causeway.orders.${parameters}(order.order_id);`,
          `const { escrow } = await causeway.orders.funds(order.order_id);`,
          `// trust: what you know without asking the service, see the guide to signing`,
          `const body = await ${sign}({ order, parameters, owners: escrow.owners, trust }, viemSigner(account));`,
        ]),
    `await causeway.orders.${method}(order.order_id, body);`,
  ].join('\n');
}
