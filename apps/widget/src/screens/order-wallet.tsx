import type { WalletInfo } from '@causeway/protocol/widget';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import {
  askWallet,
  type Connection,
  connection,
  connectWallet,
  forgetWallet,
  switchChain,
  WalletError,
  wallets,
  watchWallets,
} from '../host/wallet.ts';
import { t, tIfKnown } from '../i18n/i18n.ts';
import { useOrderTask } from '../order/order-actions.ts';
import { isolated } from '../order/progress.ts';
import type { Session } from '../session/api.ts';
import { Button, Notice, Problem } from '../ui/kit.tsx';
import type { PhaseProps } from './order-sections.tsx';

const same = (left: string, right: string) => left.toLowerCase() === right.toLowerCase();

interface GateProps extends PhaseProps {
  readonly chain: Session['chain'];
  readonly children: (connected: Connection) => ComponentChildren;
}

/** Lets nobody through but the wallet that the order names, on the network of the order. */
export function WalletGate({ order, chain, children }: GateProps) {
  useEffect(watchWallets, []);
  const known = wallets.value;
  useEffect(() => {
    if (connection.value === null) void findAgain(known, order.wallet_address);
  }, [known, order.wallet_address]);
  const connected = connection.value;
  if (connected === null) return <ChooseWallet address={order.wallet_address} />;
  if (!same(connected.address, order.wallet_address)) {
    return <WrongAccount connected={connected} address={order.wallet_address} />;
  }
  if (connected.chainId !== chain.chain_id) return <WrongChain connected={connected} chain={chain} />;
  return <>{children(connected)}</>;
}

/** After a reload: a wallet that has given this account before says so without asking anyone. */
async function findAgain(known: readonly WalletInfo[], address: string): Promise<void> {
  for (const wallet of known) {
    const accounts = await askWallet(wallet, 'eth_accounts').catch(() => []);
    const isThere = Array.isArray(accounts) && accounts.some((one) => same(String(one), address));
    if (!isThere || connection.value !== null) continue;
    const chainId = await askWallet(wallet, 'eth_chainId').then(Number, () => null);
    connection.value = { wallet, address, chainId };
    return;
  }
}

function ChooseWallet({ address }: { readonly address: string }) {
  const { busy, error, once } = useOrderTask();
  if (wallets.value.length === 0) {
    return (
      <Notice kind="warning" testId="no-wallet">
        <p>{t('sign.no_wallet')}</p>
      </Notice>
    );
  }
  return (
    <div class="stack tight" data-testid="connect-wallet">
      <h2>{t('wallet.connect')}</h2>
      <p>{t('sign.connect_text', { wallet: isolated(address) })}</p>
      <div class="choices">
        {wallets.value.map((wallet) => (
          <button
            key={wallet.uuid}
            type="button"
            class="choice"
            disabled={busy}
            data-testid="wallet-option"
            data-rdns={wallet.rdns}
            onClick={() => void once(async () => void (await connectWallet(wallet)))}
          >
            <img src={wallet.icon} alt="" width={32} height={32} />
            <span>{wallet.name}</span>
          </button>
        ))}
      </div>
      <WalletProblem error={error} />
    </div>
  );
}

function WrongAccount({ connected, address }: { readonly connected: Connection; readonly address: string }) {
  const { busy, error, once } = useOrderTask();
  // Several accounts may have been given; the one that the order needs need not be the first.
  useEffect(() => void findOther(connected, address), [connected, address]);
  return (
    <div class="stack tight">
      <Notice kind="warning" testId="wrong-account">
        <p>{t('sign.wrong_account', { given: isolated(connected.address), wallet: isolated(address) })}</p>
      </Notice>
      <Button
        kind="secondary"
        busy={busy}
        testId="check-wallet"
        onClick={() => once(async () => void (await connectWallet(connected.wallet)))}
      >
        {t('sign.again')}
      </Button>
      <Button kind="link" testId="other-wallet" onClick={forgetWallet}>
        {t('wallet.change')}
      </Button>
      <WalletProblem error={error} />
    </div>
  );
}

async function findOther(connected: Connection, address: string): Promise<void> {
  const accounts = await askWallet(connected.wallet, 'eth_accounts').catch(() => []);
  const isThere = Array.isArray(accounts) && accounts.some((one) => same(String(one), address));
  if (isThere && connection.value === connected) connection.value = { ...connected, address };
}

function WrongChain({
  connected,
  chain,
}: {
  readonly connected: Connection;
  readonly chain: Session['chain'];
}) {
  const { busy, error, once } = useOrderTask();
  return (
    <div class="stack tight">
      <Notice kind="warning" testId="wrong-chain">
        <p>{t('wallet.wrongChain', { wallet: connected.wallet.name, chain: chain.name })}</p>
      </Notice>
      <Button
        busy={busy}
        testId="switch-chain"
        onClick={() => once(() => switchChain(connected, chain.chain_id))}
      >
        {t('wallet.switch', { chain: chain.name })}
      </Button>
      <WalletProblem error={error} chain={chain} />
    </div>
  );
}

/** What a wallet answered. Saying no is the customer’s right and nothing to be alarmed about. */
export function WalletProblem({
  error,
  chain,
}: {
  readonly error: unknown;
  readonly chain?: Session['chain'];
}) {
  if (error === null) return null;
  if (!(error instanceof WalletError)) return <Problem error={error} />;
  const words =
    error.problem === 'failed'
      ? t('sign.wallet_error', { message: error.message.slice(0, 200) })
      : tIfKnown(`wallet.${error.problem}`, {
          wallet: error.wallet,
          chain: chain?.name ?? '',
          chainId: `${chain?.chain_id ?? ''}`,
        });
  return (
    <Notice kind={error.problem === 'rejected' ? 'info' : 'warning'} testId={`wallet-${error.problem}`}>
      <p>{words}</p>
    </Notice>
  );
}
