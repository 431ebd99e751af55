import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

/** How a page brings the widget in. */
export type Embedding = 'script' | 'element' | 'package';

export interface EmbeddedWidget {
  readonly by: Embedding;
  /** What `mount` is given besides the callbacks and the key, whose place a `session` takes. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** With the element: attributes instead. */
  readonly attributes?: Readonly<Record<string, string>>;
  readonly widgetKey?: string;
}

/** A shop on an origin of its own, whose policy allows nothing but itself and one other origin for scripts and frames. */
export interface HostPages {
  readonly origin: string;
  /** The address of a page that shows these widgets, one below the other. */
  page(...widgets: readonly EmbeddedWidget[]): string;
  /** The address of a page with this text as it is, without any policy. */
  plain(html: string): string;
  close(): Promise<void>;
}

const CALLBACKS = ['onReady', 'onTradeStarted', 'onTradeCompleted', 'onError', 'onClose'] as const;

/** What the page has put there for tests to read. */
export interface RecordedCall {
  readonly instance: number;
  readonly name: (typeof CALLBACKS)[number];
  readonly payload: { readonly orderId?: string; readonly code?: string; readonly message?: string } | null;
}

export async function serveHostPages(
  gatewayUrl: string,
  widgetKey: string,
  /** Any name under localhost is this machine to a browser, and an origin of its own. */
  host = '127.0.0.1',
): Promise<HostPages> {
  const files = new Map<string, { readonly type: string; readonly text: string; readonly policy?: string }>();
  // The shop leaves room for the widget: what stands below would move when a script puts it there.
  files.set('/shop.css', { type: 'text/css', text: '[id^="place-"] { min-height: 640px }' });
  const policy = [
    "default-src 'none'",
    `script-src 'self' ${gatewayUrl}`,
    `frame-src ${gatewayUrl}`,
    "style-src 'self'",
    'img-src data:',
  ].join('; ');
  const server = createServer((request, response) => {
    void (async () => {
      const path = request.url ?? '/';
      if (path === '/package.js' && !files.has(path)) {
        files.set(path, { type: 'text/javascript', text: await bundledPackage() });
      }
      const file = files.get(path);
      response.statusCode = file === undefined ? 404 : 200;
      response.setHeader('content-type', `${file?.type ?? 'text/plain'}; charset=utf-8`);
      if (file?.policy !== undefined) response.setHeader('content-security-policy', file.policy);
      response.end(file?.text ?? 'not found');
    })();
  });
  const origin = await listen(server, host);
  let pages = 0;
  return {
    origin,
    page(...widgets) {
      const name = `/page-${++pages}`;
      const byPackage = widgets.some(({ by }) => by === 'package');
      const html = [
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>A shop</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">',
        '<link rel="stylesheet" href="/shop.css">',
        byPackage ? '' : `<script src="${gatewayUrl}/widget/v1.js"></script>`,
        '<h1>A shop</h1>',
        ...widgets.map(
          ({ attributes = {}, by, widgetKey: key = widgetKey }, index) =>
            `<div id="place-${index}">${by === 'element' ? element(index, { 'widget-key': key, ...attributes }) : ''}</div>`,
        ),
        `<p id="below">Below the widget</p><script type="module" src="${name}.js"></script></html>`,
      ].join('\n');
      const script = widgets.map((widget, index) => scriptOf(widget, index, gatewayUrl, widgetKey));
      const before = byPackage
        ? "import { mount } from '/package.js';"
        : 'const { mount } = window.Causeway ?? {};';
      files.set(name, { type: 'text/html', text: html, policy });
      files.set(`${name}.js`, {
        type: 'text/javascript',
        text: `${before}\nwindow.calls = [];\nwindow.widgets = [];\n${script.join('\n')}`,
      });
      return origin + name;
    },
    plain(html) {
      const name = `/plain-${++pages}`;
      files.set(name, { type: 'text/html', text: html });
      return origin + name;
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

async function listen(server: Server, host: string): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://${host}:${(server.address() as AddressInfo).port}`;
}

function element(index: number, attributes: Readonly<Record<string, string>>): string {
  const text = Object.entries(attributes).map(([name, value]) => `${name}="${escapeText(value)}"`);
  return `<causeway-ramp id="ramp-${index}" ${text.join(' ')}></causeway-ramp>`;
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}

function scriptOf(
  { by, options = {}, widgetKey: key }: EmbeddedWidget,
  index: number,
  gatewayUrl: string,
  widgetKey: string,
): string {
  const record = (name: string) =>
    `(payload) => window.calls.push({ instance: ${index}, name: '${name}', payload: payload ?? null })`;
  if (by === 'element') {
    const listeners = CALLBACKS.map(
      (name) =>
        `ramp${index}.addEventListener('${eventName(name)}', ({ detail }) => (${record(name)})(detail));`,
    );
    return `const ramp${index} = document.getElementById('ramp-${index}');\n${listeners.join('\n')}`;
  }
  const callbacks = CALLBACKS.map((name) => `${name}: ${record(name)}`);
  const whose = options.session === undefined ? { widgetKey: key ?? widgetKey } : {};
  return `window.widgets[${index}] = mount(document.getElementById('place-${index}'), {
    ...${JSON.stringify({ ...whose, baseUrl: gatewayUrl, ...options })},
    ${callbacks.join(',\n    ')},
  });`;
}

/** onTradeStarted is told by the element as `causeway:tradestarted`. */
function eventName(callback: string): string {
  return `causeway:${callback.slice(2).toLowerCase()}`;
}

/** The npm package as a bundler takes it into a page; without React, which is an entry of its own. */
async function bundledPackage(): Promise<string> {
  const bundle = await rolldown({
    input: join(import.meta.dirname, '../../packages/widget/src/index.ts'),
    platform: 'browser',
  });
  const { output } = await bundle.generate({ format: 'esm' });
  await bundle.close();
  return output[0].code;
}
