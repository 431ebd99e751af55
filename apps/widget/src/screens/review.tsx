import { useEffect, useRef, useState } from 'preact/hooks';
import { accountLine } from '../account/rail-fields.ts';
import { priceChange } from '../buy/amounts.ts';
import { railsOf } from '../buy/discovery.ts';
import { amountText, FeesExplained, feesText, rateLine } from '../buy/price-panel.tsx';
import { firmQuote } from '../buy/pricing.ts';
import { t, tIfKnown } from '../i18n/i18n.ts';
import { ApiError, type Quote } from '../session/api.ts';
import { useSecondsLeft } from '../session/clock.ts';
import {
  api,
  change,
  confirmOrder,
  draft,
  refreshSession,
  session,
  showLostOrder,
} from '../session/store.ts';
import { Button, Facts, Heading, Notice, Problem, Spinner, useTask } from '../ui/kit.tsx';

interface Offered {
  readonly quote: Quote;
  readonly before: Quote | null;
}

/** A firm price, what it means in full, and the one button that makes it an order. */
export function ReviewScreen() {
  const [offered, setOffered] = useState<Offered | null>(null);
  const [isRefused, setRefused] = useState(false);
  const pricing = useTask();
  const ordering = useTask();
  const isOrdering = useRef(false);
  const left = useSecondsLeft(offered?.quote.expires_at ?? null);

  // The session brings the service’s clock, by which the price expires.
  const price = () =>
    pricing.run(async () => {
      if (await showLostOrder()) return;
      const [quote] = await Promise.all([firmQuote(draft.value), refreshSession()]);
      setOffered((before) => ({ quote, before: before?.quote ?? null }));
      setRefused(false);
      ordering.reset();
    });
  useEffect(() => void price(), []);

  const confirm = (quote: Quote) => {
    if (isOrdering.current) return;
    isOrdering.current = true;
    void ordering
      .run(async () => {
        try {
          await confirmOrder(quote.quote_id);
        } catch (error) {
          setRefused(error instanceof ApiError && NEEDS_NEW_PRICE.includes(error.code));
          throw error;
        }
        await refreshSession();
      })
      .finally(() => {
        isOrdering.current = false;
      });
  };

  const isOver = offered !== null && (left === 0 || isRefused);
  return (
    <div class="screen">
      <Heading>{t('review.title')}</Heading>
      {offered === null ? null : <Summary quote={offered.quote} />}
      {offered === null && pricing.error === null ? (
        <div class="loading" role="status">
          <Spinner />
          <span>{t('review.loading')}</span>
        </div>
      ) : null}
      {offered === null || isOver ? null : <PriceChange {...offered} />}
      {offered === null ? null : <Countdown left={isOver ? 0 : (left ?? 0)} />}
      <WayOn error={ordering.error ?? pricing.error} />
      {isOver && ordering.error === null ? <Notice kind="warning">{t('review.expired')}</Notice> : null}
      <div class="actions">
        {isOver || (offered === null && pricing.error !== null) ? (
          <Button busy={pricing.busy} testId="refresh-quote" onClick={price}>
            {t('review.refresh')}
          </Button>
        ) : null}
        {offered === null || isOver ? null : (
          <Button busy={ordering.busy} testId="confirm-order" onClick={() => confirm(offered.quote)}>
            {t(
              priceChange(offered.quote, offered.before) === 'worse'
                ? 'review.confirm_worse'
                : 'review.confirm',
            )}
          </Button>
        )}
      </div>
      <p class="hint">{t(`review.terms_${draft.value.side}`, { crypto: draft.value.cryptoCurrency })}</p>
    </div>
  );
}

const NEEDS_NEW_PRICE = ['QUOTE_EXPIRED', 'QUOTE_NOT_FOUND', 'NO_OFFERS_AVAILABLE'];

function PriceChange({ quote, before }: Offered) {
  if (before === null) return null;
  const kind = priceChange(quote, before);
  if (kind === 'first') return null;
  const shown = {
    pay: amountText(quote.pay_amount, quote.pay_currency),
    receive: amountText(quote.receive_amount, quote.receive_currency),
    payBefore: amountText(before.pay_amount, before.pay_currency),
    receiveBefore: amountText(before.receive_amount, before.receive_currency),
  };
  return (
    <Notice kind={kind === 'worse' ? 'warning' : 'success'} testId="price-change">
      {t(`review.${kind}`, shown)}
    </Notice>
  );
}

const QUOTE_SECONDS = 60;
const ANNOUNCED = [30, 10, 0];

/** The seconds are for the eye; a screen reader hears of them at 30, 10 and 0. */
function Countdown({ left }: { readonly left: number }) {
  const said = ANNOUNCED.findLast((seconds) => left <= seconds);
  return (
    <div class="countdown" data-testid="quote-countdown" data-seconds={left}>
      <progress max={QUOTE_SECONDS} value={Math.min(left, QUOTE_SECONDS)} aria-hidden="true" />
      <span aria-hidden="true">{t('review.seconds', { seconds: left })}</span>
      <span class="visually-hidden" role="status">
        {said === undefined ? '' : t('review.said', { seconds: said })}
      </span>
    </div>
  );
}

/** What went wrong and where it is put right. */
function WayOn({ error }: { readonly error: unknown }) {
  if (error === null || error === undefined) return null;
  const code = error instanceof ApiError ? error.code : '';
  const toOrders = () => change({ showsOrders: true });
  const ways: Readonly<Record<string, readonly [label: string, go: () => unknown]>> = {
    KYC_NOT_CLEARED: [t('review.verify'), refreshSession],
    OPEN_ORDER_LIMIT: [t('review.open_orders'), toOrders],
    QUOTE_ALREADY_USED: [t('review.open_orders'), toOrders],
    WALLET_NOT_CLEARED: [t('review.destination'), toDestination],
    WALLET_NOT_ALLOWED: [t('review.destination'), toDestination],
    RECIPIENT_NOT_CLEARED: [t('review.destination'), toDestination],
    PAYMENT_DETAILS_NOT_FOUND: [t('review.destination'), toDestination],
    NO_OFFERS_AVAILABLE: [t('review.amount'), toAmount],
    AMOUNT_OUT_OF_RANGE: [t('review.amount'), toAmount],
  };
  const way = Object.hasOwn(ways, code) ? ways[code] : undefined;
  return (
    <>
      <Problem error={error} />
      {error instanceof ApiError && code === 'SENDER_IDENTITY_REQUIRED' ? (
        <SenderFields details={error.details} />
      ) : null}
      {way === undefined ? null : (
        <Button kind="secondary" testId="way-on" onClick={way[1]}>
          {way[0]}
        </Button>
      )}
    </>
  );
}

/** A customer who is verified can add nothing here: the partner keeps what its customers’ wallets have to be told. */
function SenderFields({ details }: { readonly details: unknown }) {
  const fields = senderFields(details);
  if (fields.length === 0) return null;
  return (
    <Notice kind="warning" testId="sender-fields">
      <p>{t('review.sender_fields', { partner: session.value?.partner_name ?? '' })}</p>
      <ul>
        {fields.map((field) => (
          <li key={field}>{field}</li>
        ))}
      </ul>
    </Notice>
  );
}

/** The fields in words, with how long they may be; one that we have no words for by its name. */
export function senderFields(details: unknown): readonly string[] {
  const { missing_fields: missing = [], field_limits: limits = {} } = (details ?? {}) as {
    readonly missing_fields?: readonly string[];
    readonly field_limits?: Readonly<Record<string, number>>;
  };
  return missing.map((name) => {
    const field = tIfKnown(`kyc.${name}`) ?? name;
    const max = limits[name];
    return max === undefined ? field : t('review.sender_limit', { field, max });
  });
}

const toDestination = () => change({ isDestinationDone: false });
const toAmount = () => change({ isAmountDone: false });

/** What is paid and got, every fee, and where it goes. */
function Summary({ quote }: { readonly quote: Quote }) {
  const { side, cryptoCurrency, fiatCurrency, walletAddress } = draft.value;
  const chain = session.value?.chain.name ?? '';
  const method = useRailName(quote.payment_network_slug);
  const account = useAccountLine();
  const isOnramp = side === 'onramp';
  const wallet = <bdi class="mono">{walletAddress}</bdi>;
  return (
    <>
      <section class="panel">
        <Facts
          rows={[
            [
              t('review.pay'),
              <span class="headline">{amountText(quote.pay_amount, quote.pay_currency)}</span>,
            ],
            [
              t('review.get'),
              <span class="headline">{amountText(quote.receive_amount, quote.receive_currency)}</span>,
            ],
          ]}
        />
        <hr />
        <Facts
          rows={[
            [t('review.rate'), rateLine(quote.rate, cryptoCurrency, fiatCurrency)],
            [t('review.fees'), feesText(quote, cryptoCurrency)],
            [t(`review.method.${side}`), method],
            ...(isOnramp || account === null ? [] : [[t('review.account'), account] as const]),
            [t(isOnramp ? 'review.wallet' : 'review.wallet_from'), wallet],
            [t('review.network'), chain],
          ]}
        />
        <FeesExplained price={quote} pair={{ side, cryptoCurrency, fiatCurrency }} />
      </section>
      {isOnramp ? (
        <Notice kind="warning" testId="network-warning">
          {t('review.network_warning', { crypto: cryptoCurrency, chain })}
        </Notice>
      ) : null}
    </>
  );
}

function useRailName(slug: string): string {
  const { country, fiatCurrency, side } = draft.value;
  const [name, setName] = useState(slug);
  useEffect(() => {
    railsOf(country, fiatCurrency, side).then(
      (rails) => setName(rails.find((rail) => rail.slug === slug)?.name ?? slug),
      () => setName(slug),
    );
  }, [slug]);
  return name;
}

/** The account that is paid, masked as the service gives it. */
function useAccountLine(): string | null {
  const { side, paymentDetailsId } = draft.value;
  const [line, setLine] = useState<string | null>(null);
  useEffect(() => {
    if (side === 'onramp' || paymentDetailsId === null) return;
    api()
      .paymentDetails()
      .then(
        ({ payment_details: saved }) => {
          const chosen = saved.find((one) => one.id === paymentDetailsId);
          setLine(chosen === undefined ? null : accountLine(chosen));
        },
        () => setLine(null),
      );
  }, [side, paymentDetailsId]);
  return line;
}
