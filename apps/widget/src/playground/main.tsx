import { type MountOptions, mount, type WidgetHandle } from '@causeway/widget';
import { signal } from '@preact/signals';
import { render } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { checkoutLink, codeFor, sessionInput, WAYS, type Way } from './code.ts';
import { Controls, Wallet } from './controls.tsx';
import { cleaned, OptionsForm, startingOptions } from './options-form.tsx';
import { chainRpc, createSandbox, type PlaygroundData } from './sandbox.ts';
import { startTestWallet } from './test-wallet.ts';

/** Where a developer tries the widget: its options, the widget itself, and all that comes of it, side by side. */
const data = JSON.parse(document.getElementById('causeway')?.textContent ?? '{}') as PlaygroundData;
const sandbox = data.partnerKey === null ? null : createSandbox(data.partnerKey);

interface LogEntry {
  readonly at: string;
  readonly from: 'callback' | 'webhook' | 'wallet';
  readonly name: string;
  readonly detail: string;
}

const options = signal<MountOptions>(startingOptions(data));
/** A server-made session takes the key’s place until the options are applied anew. */
const session = signal<string | null>(null);
const log = signal<readonly LogEntry[]>([]);
const orderId = signal('');
const way = signal<Way>('script');
const problem = signal('');
const MAX_ENTRIES = 200;

function note(from: LogEntry['from'], name: string, detail: unknown): void {
  const at = new Date().toLocaleTimeString('en-GB');
  const text =
    detail === undefined ? '' : typeof detail === 'string' ? detail : JSON.stringify(detail, null, 1);
  log.value = [{ at, from, name, detail: text }, ...log.value].slice(0, MAX_ENTRIES);
}

const wallet = startTestWallet({
  chains: data.chains,
  rpc: chainRpc,
  asked: (method, outcome) => note('wallet', method, outcome),
});
sandbox?.follow((event) => note('webhook', event.event_type, event));

function mountOptions(): MountOptions {
  const given = cleaned(options.value);
  const source =
    session.value === null ? { baseUrl: data.baseUrl } : { session: session.value, widgetKey: undefined };
  return {
    ...given,
    ...source,
    onReady: () => note('callback', 'onReady', undefined),
    onStep: (step) => note('callback', 'onStep', step),
    onTradeStarted: (trade) => {
      orderId.value = trade.orderId;
      note('callback', 'onTradeStarted', trade);
    },
    onTradeCompleted: (trade) => note('callback', 'onTradeCompleted', trade),
    onError: (failure) => note('callback', 'onError', failure),
    onClose: () => note('callback', 'onClose', undefined),
  };
}

let handle: WidgetHandle | null = null;

function Widget() {
  const place = useRef<HTMLDivElement>(null);
  const current = options.value;
  const made = session.value;
  const remount = () => {
    handle?.destroy();
    handle = null;
    problem.value = '';
    if (place.current === null || (made === null && !current.widgetKey)) return;
    try {
      handle = mount(place.current, mountOptions());
    } catch (error) {
      problem.value = error instanceof Error ? error.message : String(error);
    }
  };
  // Another key or session is another widget; anything else changes the one that is there.
  useEffect(remount, [current.widgetKey, made]);
  useEffect(() => handle?.update(mountOptions()), [current]);
  return (
    <section class="stage" aria-labelledby="stage-title">
      <h2 id="stage-title">The widget</h2>
      <p class="row">
        <button type="button" onClick={remount}>
          Mount anew
        </button>
        <button type="button" onClick={() => handle?.open()}>
          Open
        </button>
        <button type="button" onClick={() => handle?.close()}>
          Close
        </button>
        <a href={checkoutLink(data.baseUrl, cleaned(current))} target="_blank" rel="noopener">
          As a hosted page
        </a>
      </p>
      {problem.value === '' ? null : (
        <p role="alert" class="problem">
          {problem.value}
        </p>
      )}
      <div class="place" data-testid="playground-widget" ref={place} />
    </section>
  );
}

function Log() {
  return (
    <section aria-labelledby="log-title">
      <h2 id="log-title">What comes of it</h2>
      <p class="row">
        <span class="hint">
          Callbacks tell your page; trust only webhooks and the API. {sandbox === null ? LOCAL_ONLY : ''}
        </span>
        <button type="button" onClick={() => (log.value = [])}>
          Clear
        </button>
      </p>
      <ol class="log" data-testid="playground-log" aria-live="polite">
        {log.value.map((entry, index) => (
          <li key={log.value.length - index} data-from={entry.from} data-name={entry.name}>
            <details>
              <summary>
                <time>{entry.at}</time> <span class={`badge ${entry.from}`}>{entry.from}</span> {entry.name}
              </summary>
              <pre>{entry.detail}</pre>
            </details>
          </li>
        ))}
      </ol>
    </section>
  );
}

const LOCAL_ONLY =
  'Webhooks and controls need the sandbox’s secret key, which is given to pages on its own machine only: open http://localhost.';

function Code() {
  const text = codeFor(way.value, data.baseUrl, cleaned(options.value));
  return (
    <section aria-labelledby="code-title">
      <h2 id="code-title">The code</h2>
      <p class="row">
        <label>
          Embed by{' '}
          <select
            value={way.value}
            data-testid="playground-way"
            onChange={(event) => {
              way.value = event.currentTarget.value as Way;
            }}
          >
            {Object.entries(WAYS).map(([name, label]) => (
              <option key={name} value={name}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <button type="button" onClick={() => void navigator.clipboard.writeText(text)}>
          Copy
        </button>
      </p>
      <pre class="code" data-testid="playground-code">
        {text}
      </pre>
    </section>
  );
}

async function openSession(): Promise<void> {
  try {
    const made = await sandbox?.makeSession(sessionInput(cleaned(options.value)));
    session.value = made?.url ?? null;
    if (made !== undefined) note('callback', 'POST /partner/widget-sessions', made);
  } catch (error) {
    problem.value = error instanceof Error ? error.message : String(error);
  }
}

function Playground() {
  return (
    <>
      <header class="bar">
        <h1>Widget playground</h1>
        <span class="badge">Sandbox</span>
        <nav aria-label="Documentation">
          <a href="/docs/guides/widget">Guide</a> <a href="/docs">Docs</a>
        </nav>
      </header>
      <main class="columns">
        <div class="column">
          <OptionsForm
            data={data}
            value={options.value}
            onChange={(changed) => {
              options.value = changed;
              session.value = null;
            }}
            walletAddress={wallet.address}
            onSession={sandbox === null ? undefined : () => void openSession()}
          />
          <Code />
        </div>
        <Widget />
        <div class="column">
          <Log />
          <Wallet wallet={wallet} sandbox={sandbox} chains={data.chains} />
          {sandbox === null ? null : (
            <Controls
              sandbox={sandbox}
              events={data.orderEvents}
              orderId={orderId.value}
              onOrderId={(changed) => {
                orderId.value = changed;
              }}
            />
          )}
        </div>
      </main>
    </>
  );
}

const root = document.getElementById('playground');
if (root !== null) render(<Playground />, root);
