import { useState } from 'preact/hooks';
import type { Mail, PlaygroundChain, Sandbox } from './sandbox.ts';
import type { TestWallet } from './test-wallet.ts';

/** What drives an order on where other people would: the vendor, the chain, the time that passes. */
const MINUTE = 60;
const STEPS = [
  ['1 min', MINUTE],
  ['10 min', 10 * MINUTE],
  ['1 h', 60 * MINUTE],
  ['1 day', 24 * 60 * MINUTE],
] as const;

/** Runs one thing at a time and says what became of it. */
function useOutcome() {
  const [outcome, setOutcome] = useState('');
  const [busy, setBusy] = useState(false);
  const run = async (work: () => Promise<string>) => {
    setBusy(true);
    try {
      setOutcome(await work());
    } catch (error) {
      setOutcome(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  };
  return { outcome, busy, run: (work: () => Promise<string>) => void run(work) };
}

interface ControlsProps {
  readonly sandbox: Sandbox;
  readonly events: readonly string[];
  readonly orderId: string;
  readonly onOrderId: (orderId: string) => void;
}

export function Controls({ sandbox, events, orderId, onOrderId }: ControlsProps) {
  const { outcome, busy, run } = useOutcome();
  const [event, setEvent] = useState(events[0] ?? '');
  return (
    <section aria-labelledby="controls-title">
      <h2 id="controls-title">Drive it on</h2>
      <label>
        Order
        <input
          type="text"
          autocomplete="off"
          value={orderId}
          placeholder="filled in by onTradeStarted"
          onInput={(change) => onOrderId(change.currentTarget.value)}
        />
      </label>
      <p class="row">
        <label>
          Event{' '}
          <select
            value={event}
            data-testid="order-event"
            onChange={(change) => setEvent(change.currentTarget.value)}
          >
            {events.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <button
          type="button"
          disabled={busy || orderId === ''}
          data-testid="send-event"
          onClick={() =>
            run(async () => `The order is ${(await sandbox.orderEvent(orderId, event)).status}.`)
          }
        >
          Send
        </button>
      </p>
      <p class="row">
        <span>Clock</span>
        {STEPS.map(([label, seconds]) => (
          <button
            key={label}
            type="button"
            disabled={busy}
            onClick={() => run(async () => `It is ${(await sandbox.advanceClock(seconds)).now}.`)}
          >
            + {label}
          </button>
        ))}
        <button
          type="button"
          disabled={busy}
          onClick={() => run(async () => `It is ${(await sandbox.resetClock()).now}.`)}
        >
          Reset
        </button>
      </p>
      <p role="status" class="hint">
        {busy ? 'One moment …' : outcome}
      </p>
      <Mailbox sandbox={sandbox} />
    </section>
  );
}

function Mailbox({ sandbox }: { readonly sandbox: Sandbox }) {
  const { outcome, busy, run } = useOutcome();
  const [email, setEmail] = useState('');
  const [mails, setMails] = useState<readonly Mail[]>([]);
  const look = async () => {
    const { messages } = await sandbox.mailbox(email);
    setMails(messages);
    return messages.length === 0 ? 'There is none for this address.' : '';
  };
  return (
    <>
      <h3>Mailbox</h3>
      <p class="row">
        <label>
          E-mail of the customer{' '}
          <input
            type="email"
            autocomplete="off"
            value={email}
            onInput={(change) => setEmail(change.currentTarget.value)}
          />
        </label>
        <button
          type="button"
          disabled={busy || email === ''}
          data-testid="read-mail"
          onClick={() => run(look)}
        >
          Look
        </button>
      </p>
      <p role="status" class="hint">
        {outcome}
      </p>
      {mails.map((mail) => (
        <details key={mail.sent_at}>
          <summary>{mail.subject}</summary>
          <pre>{mail.text}</pre>
        </details>
      ))}
    </>
  );
}

interface WalletProps {
  readonly wallet: TestWallet;
  readonly sandbox: Sandbox | null;
  readonly chains: readonly PlaygroundChain[];
}

export function Wallet({ wallet, sandbox, chains }: WalletProps) {
  const { outcome, busy, run } = useOutcome();
  const [chain] = chains;
  const fund = async () => {
    if (chain === undefined || sandbox === null) return '';
    await sandbox.faucet(chain.slug, 'native', wallet.address, '1');
    for (const token of chain.tokens) await sandbox.faucet(chain.slug, token, wallet.address, '1000');
    return `1000 ${chain.tokens.join(', 1000 ')} and gas are there.`;
  };
  return (
    <section aria-labelledby="wallet-title">
      <h2 id="wallet-title">Test wallet</h2>
      <p class="hint">
        It announces itself to the widget as an extension would, with a key of this tab, and signs without
        asking.
      </p>
      <p class="address" data-testid="test-wallet">
        {wallet.address}
      </p>
      <p class="row">
        <button
          type="button"
          disabled={busy || sandbox === null}
          data-testid="fund-wallet"
          onClick={() => run(fund)}
        >
          Fund it
        </button>
        <button type="button" onClick={() => wallet.refuseNext()}>
          Refuse the next request
        </button>
      </p>
      <p role="status" class="hint" data-testid="wallet-outcome">
        {busy ? 'One moment …' : outcome}
      </p>
    </section>
  );
}
