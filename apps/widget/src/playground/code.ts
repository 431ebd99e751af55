import type { MountOptions } from '@causeway/widget';

/** The same options as code to copy. Keys are those of this sandbox, and the publishable one only. */
export type Way = 'script' | 'npm' | 'react' | 'session' | 'link';

export const WAYS: Readonly<Record<Way, string>> = {
  script: 'Script tag',
  npm: 'npm',
  react: 'React',
  session: 'Server-made session',
  link: 'Plain link',
};

const ATTRIBUTES = [
  ['side', 'side'],
  ['fiatCurrency', 'fiat-currency'],
  ['cryptoCurrency', 'crypto-currency'],
  ['amount', 'amount'],
  ['country', 'country'],
  ['wallet', 'wallet'],
  ['userReference', 'user-reference'],
  ['locale', 'locale'],
] as const;

const CALLBACKS = [
  'onReady: () => console.log("ready")',
  'onTradeStarted: ({ orderId, side }) => console.log("started", orderId, side)',
  'onTradeCompleted: ({ orderId, side }) => console.log("completed", orderId, side)',
  'onError: ({ code, message }) => console.error(code, message)',
  'onClose: () => console.log("closed")',
];

export function codeFor(way: Way, baseUrl: string, options: MountOptions): string {
  switch (way) {
    case 'script':
      return scriptCode(baseUrl, options);
    case 'npm':
      return npmCode(baseUrl, options);
    case 'react':
      return reactCode(baseUrl, options);
    case 'session':
      return sessionCode(baseUrl, options);
    case 'link':
      return checkoutLink(baseUrl, options);
  }
}

function scriptCode(baseUrl: string, options: MountOptions): string {
  const attributes = ATTRIBUTES.flatMap(([name, attribute]) => {
    const value = options[name];
    return value === undefined ? [] : [`${attribute}="${escapeAttribute(value)}"`];
  });
  if (options.theme !== undefined) {
    attributes.push(`theme='${JSON.stringify(options.theme).replaceAll("'", '&#39;')}'`);
  }
  const lines = [`widget-key="${options.widgetKey ?? ''}"`, ...attributes].map((line) => `  ${line}`);
  return `<script src="${baseUrl}/widget/v1.js"></script>
<style>causeway-ramp { display: block; min-height: 880px }</style>

<causeway-ramp
${lines.join('\n')}
></causeway-ramp>

<script>
  document.querySelector('causeway-ramp')
    .addEventListener('causeway:tradecompleted', ({ detail }) => console.log(detail.orderId));
</script>`;
}

function npmCode(baseUrl: string, options: MountOptions): string {
  const lines = [...literals({ ...options, baseUrl }), ...CALLBACKS].map((line) => `  ${line},`);
  return `import { mount } from '@causeway/widget';

const widget = mount(document.querySelector('#ramp'), {
${lines.join('\n')}
});

// later: widget.update({ locale: 'fr' }), widget.close(), widget.destroy()`;
}

function reactCode(baseUrl: string, options: MountOptions): string {
  const props = Object.entries({ ...options, baseUrl })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) =>
      typeof value === 'string'
        ? `      ${name}=${JSON.stringify(value)}`
        : `      ${name}={${JSON.stringify(value)}}`,
    );
  return `import { CausewayRamp } from '@causeway/widget/react';

export function Ramp() {
  return (
    <CausewayRamp
${props.join('\n')}
      onTradeCompleted={({ orderId }) => console.log('completed', orderId)}
    />
  );
}`;
}

/** What the partner’s server sends; the names are those of the API. */
export function sessionInput(options: MountOptions): Record<string, unknown> {
  const { side, fiatCurrency, cryptoCurrency, amount, country, wallet, userReference, locale, theme } =
    options;
  const all = {
    side,
    fiat_currency: fiatCurrency,
    crypto_currency: cryptoCurrency,
    fiat_amount: amount,
    country_code: country,
    wallet_address: wallet,
    reference_id: userReference,
    locale,
    color_scheme: theme?.mode,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

function sessionCode(baseUrl: string, options: MountOptions): string {
  const body = JSON.stringify(sessionInput(options), null, 2);
  return `# On your server, with the secret key; never in a page.
curl -X POST ${baseUrl}/api/v1/partner/widget-sessions \\
  -H "X-API-Key: $CAUSEWAY_API_KEY" -H 'Content-Type: application/json' \\
  -d '${body}'

# The answer’s data.url opens once, within ten minutes: redirect the customer to it,
# or give it to the widget: mount(element, { session: url })`;
}

/** The hosted page. What is personal is in the fragment, which is sent to no server. */
export function checkoutLink(baseUrl: string, options: MountOptions): string {
  const { side, fiatCurrency, cryptoCurrency, amount, country, locale, theme, wallet, userReference } =
    options;
  const query = search({
    key: options.widgetKey,
    side,
    fiatCurrency,
    cryptoCurrency,
    amount,
    country,
    locale,
    theme: theme?.mode,
  });
  const fragment = search({ wallet, userReference });
  return `${baseUrl}/widget/checkout?${query}${fragment === '' ? '' : `#${fragment}`}`;
}

function search(values: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== undefined) query.set(name, value);
  return query.toString();
}

function literals(options: MountOptions): string[] {
  return Object.entries(options)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
}

function escapeAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
