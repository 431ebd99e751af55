import type { WalletInfo } from '@causeway/protocol/widget';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import {
  type Connection,
  connection,
  connectWallet,
  forgetWallet,
  switchChain,
  WalletError,
  wallets,
  watchWallets,
} from '../host/wallet.ts';
import { t } from '../i18n/i18n.ts';
import { session } from '../session/store.ts';
import { Button, Field, Notice, Problem, useTask } from '../ui/kit.tsx';
import { type AddressReading, addressGroups, readAddress } from './address.ts';

/** An address in full, in groups of four: shortened ones cannot be compared. */
export function Address({ address, testId }: { readonly address: string; readonly testId?: string }) {
  return (
    <bdi class="address" dir="ltr" data-testid={testId} data-address={address}>
      {addressGroups(address).map((group, at) => (
        <span key={at}>{group}</span>
      ))}
    </bdi>
  );
}

export interface PastedAddress {
  readonly text: string;
  readonly isUnderstood: boolean;
}

/** The address that the customer has chosen: the partner’s where it is fixed, the connected wallet’s, or the pasted one. */
export function chosenAddress(pasted: PastedAddress): AddressReading & { readonly isPasted: boolean } {
  const { start, locked, chain } = session.value ?? {};
  const fixed = locked === true ? start?.wallet_address : undefined;
  const tokens = chain?.tokens.map(({ address }) => address) ?? [];
  const given = fixed ?? connection.value?.address;
  if (given !== undefined) return { ...readAddress(given.toLowerCase(), tokens), isPasted: false };
  const reading = readAddress(pasted.text, tokens);
  const isPartners = reading.ok && reading.address.toLowerCase() === start?.wallet_address?.toLowerCase();
  return { ...reading, isPasted: !isPartners };
}

/** What keeps the customer from going on, in words; by field. */
export function walletErrors(pasted: PastedAddress): Readonly<Record<string, string>> {
  const reading = chosenAddress(pasted);
  const chain = session.value?.chain.name ?? '';
  if (!reading.ok) return { 'wallet-address': t(`wallet.${reading.problem}`, { chain }) };
  if (reading.isPasted && !pasted.isUnderstood)
    return { 'wallet-understand': t('wallet.understandRequired') };
  return {};
}

type WalletPartProps = {
  /** The wallet has to sign and pay later, so that an address alone is half of it. */
  readonly isPayer: boolean;
  readonly currency: string;
  readonly pasted: PastedAddress;
  readonly onPasted: (pasted: PastedAddress) => void;
  readonly errors: Readonly<Record<string, string>>;
};

export function WalletPart({ isPayer, currency, pasted, onPasted, errors }: WalletPartProps) {
  useEffect(watchWallets, []);
  const { start, locked, partner_name: partner = '' } = session.value ?? {};
  const connected = connection.value;
  const fixed = locked === true ? start?.wallet_address : undefined;
  return (
    <fieldset class="plain">
      <legend>{isPayer ? t('destination.walletPaysLegend') : t('destination.walletLegend')}</legend>
      {fixed !== undefined ? (
        <div class="panel well">
          <Address address={fixed} testId="wallet-locked" />
          <p class="hint">{t('destination.addressLocked', { partner })}</p>
        </div>
      ) : connected === null ? (
        <>
          <ConnectPart isPayer={isPayer} />
          <PastePart
            isPayer={isPayer}
            currency={currency}
            pasted={pasted}
            onPasted={onPasted}
            errors={errors}
          />
        </>
      ) : (
        <ConnectedPart connected={connected} />
      )}
    </fieldset>
  );
}

/** What a wallet refused, kindly: declining is the customer’s right and not an error. */
export function WalletTrouble({ error }: { readonly error: unknown }) {
  if (error === null || error === undefined) return null;
  if (!(error instanceof WalletError)) return <Problem error={error} />;
  const chain = session.value?.chain;
  return (
    <Notice kind={error.problem === 'rejected' ? 'info' : 'warning'} testId="wallet-problem">
      {t(`wallet.${error.problem}`, {
        wallet: error.wallet,
        chain: chain?.name ?? '',
        chainId: String(chain?.chain_id ?? ''),
      })}
    </Notice>
  );
}

function ConnectPart({ isPayer }: { readonly isPayer: boolean }) {
  const [isOpen, setOpen] = useState(false);
  const [asked, setAsked] = useState<WalletInfo | null>(null);
  const { busy, error, run } = useTask();
  const found = wallets.value;
  const connect = (wallet: WalletInfo) => {
    setAsked(wallet);
    return run(async () => {
      await connectWallet(wallet);
    });
  };
  return (
    <div class="stack tight">
      <Button kind="secondary" onClick={() => setOpen(!isOpen)} testId="connect-wallet">
        {t('wallet.connect')}
      </Button>
      {isOpen && found.length === 0 ? (
        <Notice kind="warning" testId="no-wallet">
          {isPayer ? t('wallet.noneToPay') : t('wallet.none')}
        </Notice>
      ) : null}
      {isOpen ? (
        <div class="choices">
          {found.map((wallet) => (
            <button
              key={wallet.uuid}
              type="button"
              class="choice"
              disabled={busy}
              data-testid="wallet-option"
              data-rdns={wallet.rdns}
              onClick={() => void connect(wallet)}
            >
              {/^data:image\//.test(wallet.icon) ? <img src={wallet.icon} alt="" /> : null}
              <span>{wallet.name}</span>
            </button>
          ))}
        </div>
      ) : null}
      {busy && asked !== null ? <p role="status">{t('wallet.connecting', { wallet: asked.name })}</p> : null}
      <WalletTrouble error={error} />
    </div>
  );
}

function ConnectedPart({ connected }: { readonly connected: Connection }) {
  const { busy, error, run } = useTask();
  const panel = useRef<HTMLDivElement>(null);
  // The button that was pressed is gone; what came of it is where the reader goes on.
  useLayoutEffect(() => {
    if (document.activeElement === document.body) panel.current?.focus();
  }, []);
  const { wallet, chainId } = connected;
  const chain = session.value?.chain;
  const reading = readAddress(connected.address.toLowerCase());
  return (
    <div class="stack tight">
      <div class="panel well" tabIndex={-1} ref={panel} data-testid="connected-wallet">
        <p>{t('wallet.connected', { wallet: wallet.name })}</p>
        <Address address={reading.ok ? reading.address : connected.address} />
      </div>
      {chain !== undefined && chainId !== null && chainId !== chain.chain_id ? (
        <Notice kind="warning" testId="wrong-chain">
          <p>{t('wallet.wrongChain', { wallet: wallet.name, chain: chain.name })}</p>
          <Button
            kind="secondary"
            busy={busy}
            testId="switch-chain"
            onClick={() => run(() => switchChain(connected, chain.chain_id))}
          >
            {t('wallet.switch', { chain: chain.name })}
          </Button>
        </Notice>
      ) : null}
      <WalletTrouble error={error} />
      <Button kind="link" onClick={forgetWallet} testId="change-wallet">
        {t('wallet.change')}
      </Button>
    </div>
  );
}

function PastePart({ isPayer, currency, pasted, onPasted, errors }: WalletPartProps) {
  const chain = session.value?.chain.name ?? '';
  const reading = chosenAddress(pasted);
  const understandError = errors['wallet-understand'];
  const input = {
    'data-field': 'wallet-address',
    spellcheck: false,
    autocapitalize: 'off',
    dir: 'ltr',
  } as const;
  return (
    <div class="stack tight">
      <Field
        label={t('wallet.paste')}
        value={pasted.text}
        onInput={(text) => onPasted({ text, isUnderstood: false })}
        hint={isPayer ? t('wallet.pasteToPay') : undefined}
        error={errors['wallet-address']}
        input={input}
        testId="wallet-address"
      />
      {reading.ok ? (
        <Notice kind="warning" testId="network-warning">
          <Address address={reading.address} />
          {reading.isChecked ? null : <p>{t('wallet.lowerCase')}</p>}
          <p>{t('wallet.networkWarning', { currency, chain })}</p>
          <p>{t('wallet.exchange')}</p>
        </Notice>
      ) : null}
      {reading.ok && reading.isPasted ? (
        <div>
          <label class="check">
            <input
              type="checkbox"
              checked={pasted.isUnderstood}
              data-field="wallet-understand"
              data-testid="wallet-understand"
              aria-invalid={understandError !== undefined}
              {...(understandError === undefined ? {} : { 'aria-describedby': 'wallet-understand-error' })}
              onChange={(event) => onPasted({ ...pasted, isUnderstood: event.currentTarget.checked })}
            />
            <span>{t('wallet.understand', { chain })}</span>
          </label>
          {understandError === undefined ? null : (
            <p class="error" id="wallet-understand-error">
              {understandError}
            </p>
          )}
        </div>
      ) : null}
    </div>
  );
}
