import { useEffect, useState } from 'preact/hooks';
import { AmountBox } from '../buy/amount-box.tsx';
import { fieldText, type ParsedAmount } from '../buy/amounts.ts';
import { choicesOf, consistent, homeCountries } from '../buy/choices.ts';
import { type Listings, listings } from '../buy/discovery.ts';
import { amountText, FeesExplained, feesText, rateLine } from '../buy/price-panel.tsx';
import { amountsOf, isFixed, tokenDecimals } from '../buy/pricing.ts';
import { Refusal, type WayOn } from '../buy/refusal.tsx';
import { RoutePickers, useInstitution, useRails } from '../buy/route-pickers.tsx';
import { readTyped, type Typed, typedNow } from '../buy/typed.ts';
import { type EstimateState, useEstimate } from '../buy/use-estimate.ts';
import { locale, t } from '../i18n/i18n.ts';
import type { Draft } from '../session/steps.ts';
import { change, draft, session } from '../session/store.ts';
import { Button, Facts, Heading, Notice, Problem, useTask } from '../ui/kit.tsx';

const SIDES = ['onramp', 'offramp'] as const;

/** What is bought or sold, for how much and by which way. */
export function AmountScreen() {
  const [known, setKnown] = useState<Listings | null>(null);
  const { error, run } = useTask();
  const load = () => run(async () => setKnown(await listings()));
  useEffect(() => void load(), []);
  return (
    <div class="screen">
      <Heading>{t(`buy.title.${draft.value.side}`)}</Heading>
      <OpenOrderNotice />
      <SideSwitch />
      {error === null ? null : (
        <>
          <Problem error={error} />
          <Button kind="secondary" onClick={load}>
            {t('buy.retry')}
          </Button>
        </>
      )}
      <AmountForm known={known} />
      {/* Not before the form has its height: a link that moves away under the finger is missed. */}
      {session.value?.customer === null && (known !== null || error !== null) ? (
        <Button kind="link" testId="find-orders" onClick={() => change({ showsOrders: true })}>
          {t('buy.resume')}
        </Button>
      ) : null}
    </div>
  );
}

function OpenOrderNotice() {
  const hasOpen = session.value?.orders.some((order) => order.is_open) ?? false;
  if (!hasOpen) return null;
  return (
    <Notice>
      <p>{t('buy.open_order')}</p>
      <Button kind="secondary" onClick={() => change({ showsOrders: true })}>
        {t('buy.open_order.show')}
      </Button>
    </Notice>
  );
}

function SideSwitch() {
  const chosen = draft.value.side;
  const isSet = isFixed(session.value, 'side');
  return (
    <fieldset class="switch">
      <legend class="visually-hidden">{t('buy.side')}</legend>
      {SIDES.map((side) => (
        <button
          key={side}
          type="button"
          aria-pressed={side === chosen}
          disabled={isSet && side !== chosen}
          data-testid={`side-${side}`}
          onClick={() => change({ side, isDestinationDone: false })}
        >
          {t(`buy.side.${side}`)}
        </button>
      ))}
    </fieldset>
  );
}

function decimalsOf(
  kind: 'fiat' | 'crypto',
  { fiatCurrency, cryptoCurrency }: Draft,
  known: Listings | null,
) {
  return kind === 'fiat'
    ? (known?.minorUnits.get(fiatCurrency) ?? 2)
    : tokenDecimals(session.value, cryptoCurrency);
}

function problemOf({ kind }: ParsedAmount, currency: string, decimals: number): string | undefined {
  if (kind === 'decimals') return t('buy.problem.decimals', { currency, count: decimals });
  if (kind === 'zero') return t('buy.problem.zero');
  if (kind === 'format') return t('buy.problem.format', { example: fieldText('100.50', locale.value) });
  return undefined;
}

/** What the customer has typed; the amount of the draft follows it, and the other amount is the service’s. */
function useTyped(known: Listings | null) {
  const current = draft.value;
  const [kept, setKept] = useState<Typed | null>(null);
  const decimalsNow = (anchor: Draft['anchor']) => decimalsOf(anchor, current, known);
  const typed = typedNow(kept, current, locale.value);
  const { parsed, amount, shown } = readTyped(typed, locale.value, decimalsNow(current.anchor));
  // Another currency may take fewer decimals, and the page may ask for what is no amount of it.
  useEffect(() => {
    if (draft.value.amount === amount) return;
    setKept({ ...typed, amount });
    change({ amount });
  }, [amount, current.amount]);
  const currency = current.anchor === 'fiat' ? current.fiatCurrency : current.cryptoCurrency;
  const type = (anchor: Draft['anchor'], text: string) => {
    const next = { text, language: locale.value, anchor };
    const read = readTyped(next, locale.value, decimalsNow(anchor));
    setKept({ ...next, amount: read.amount });
    change({ anchor, amount: read.amount });
  };
  return { typed: shown, type, amount, problem: problemOf(parsed, currency, decimalsNow(current.anchor)) };
}

/** Keeps currency, country and rail such that there is a corridor; what the partner has set decides first. */
function useSelection(known: Listings | null) {
  const select = (part: Partial<Draft>, changed: 'country' | 'fiatCurrency' | null) => {
    if (known === null) return change(part);
    const next = { ...draft.value, ...part };
    const found = consistent(known.corridors, next, changed, homeCountries(navigator.languages));
    const { fiat_currency: currency, country_code: place } = session.value?.start ?? {};
    change({
      ...found,
      ...(isFixed(session.value, 'fiat_currency') ? { fiatCurrency: currency ?? '' } : {}),
      ...(isFixed(session.value, 'country_code') ? { country: place ?? '' } : {}),
    });
  };
  const { side, cryptoCurrency, fiatCurrency, country } = draft.value;
  useEffect(() => select({}, null), [known, side, cryptoCurrency, fiatCurrency, country]);
  return select;
}

function AmountForm({ known }: { readonly known: Listings | null }) {
  const current = draft.value;
  const { side, anchor, fiatCurrency, cryptoCurrency } = current;
  const select = useSelection(known);
  const { typed, type, amount, problem } = useTyped(known);
  const rails = useRails(current);
  const { institution, setInstitution } = useInstitution(current);
  const choices = choicesOf(known?.corridors ?? [], current);
  const isServed = known === null || choices.rails.length > 0;
  const estimate = useEstimate({ ...current, amount }, known !== null && amount !== '' && isServed);
  const { figures } = estimate;
  const other = figures === null || estimate.error !== null ? null : amountsOf(side, figures);
  const tokens = session.value?.chain.tokens.map((token) => token.code) ?? [];
  const follow = (way: WayOn) => {
    if (way.kind === 'amount') {
      type(way.currency === fiatCurrency ? 'fiat' : 'crypto', fieldText(way.amount, locale.value));
    } else if (way.kind === 'rail') change({ rail: way.value, institution: '' });
    else if (way.kind === 'country') select({ country: way.value }, 'country');
    else if (way.kind === 'any-institution') change({ institution: '' });
    else estimate.retry();
  };
  const box = (kind: 'fiat' | 'crypto') => {
    const isAnchor = anchor === kind;
    const isPaid = (side === 'onramp') === (kind === 'fiat');
    return (
      <AmountBox
        key={kind}
        kind={kind}
        label={t(isPaid ? 'buy.amount.pay' : 'buy.amount.get')}
        value={isAnchor ? typed : fieldText(other?.[kind] ?? '', locale.value)}
        onInput={(text) => type(kind, text)}
        isFixed={isFixed(session.value, 'fiat_amount') || isFixed(session.value, 'crypto_amount')}
        isWaiting={!isAnchor && !estimate.isCurrent}
        error={isAnchor ? problem : undefined}
        currency={kind === 'fiat' ? fiatCurrency : cryptoCurrency}
        currencies={kind === 'fiat' ? choices.fiatCurrencies : tokens}
        isCurrencyFixed={
          isFixed(session.value, `${kind}_currency`) || (kind === 'crypto' && tokens.length < 2)
        }
        onCurrency={(code) =>
          kind === 'fiat' ? select({ fiatCurrency: code }, 'fiatCurrency') : change({ cryptoCurrency: code })
        }
      />
    );
  };
  const go = () => {
    if (!estimate.isCurrent || figures === null) return;
    change({ amount, rail: current.rail || figures.payment_network_slug, isAmountDone: true });
  };
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        go();
      }}
    >
      {session.value?.locked === true ? (
        <p class="hint">{t('buy.locked', { partner: session.value.partner_name })}</p>
      ) : null}
      <div class="between-amounts">
        {side === 'onramp' ? [box('fiat'), box('crypto')] : [box('crypto'), box('fiat')]}
      </div>
      {isServed ? null : <Notice kind="warning">{t('buy.unserved', { crypto: cryptoCurrency })}</Notice>}
      <Refusal
        error={estimate.error}
        draft={{ ...current, amount }}
        railName={(slug) => rails.find((rail) => rail.slug === slug)?.name ?? slug}
        institutionName={institution?.label ?? ''}
        onWayOn={follow}
      />
      <EstimateFigures estimate={estimate} known={known} />
      <RoutePickers
        draft={current}
        countries={choices.countries}
        railSlugs={choices.rails}
        rails={rails}
        institution={institution}
        onCountry={(country) => select({ country }, 'country')}
        onRail={(rail) => change({ rail, institution: '' })}
        onInstitution={(option) => {
          setInstitution(option);
          change({ institution: option?.value ?? '' });
        }}
      />
      <Button type="submit" testId="continue" disabled={!estimate.isCurrent} busy={estimate.isLoading}>
        {t('buy.continue')}
      </Button>
    </form>
  );
}

function EstimateFigures({
  estimate,
  known,
}: {
  readonly estimate: EstimateState;
  readonly known: Listings | null;
}) {
  const { figures, isCurrent, isLoading, error } = estimate;
  const { side, cryptoCurrency, fiatCurrency, country } = draft.value;
  if (error !== null) return null;
  if (figures === null) {
    const corridor = known?.corridors.find(
      (one) =>
        one.crypto_currency === cryptoCurrency &&
        one.fiat_currency === fiatCurrency &&
        one.country === country,
    );
    const rate = corridor?.[side]?.rate;
    return (
      <p class="hint" role="status">
        {isLoading
          ? t('buy.estimate.loading')
          : rate === undefined
            ? ''
            : `${t('buy.amount.hint')} ${rateLine(rate, cryptoCurrency, fiatCurrency)}`}
      </p>
    );
  }
  return (
    <section class="panel well" data-testid="estimate" aria-busy={!isCurrent}>
      <p class="visually-hidden" role="status">
        {isCurrent
          ? t('buy.estimate.said', {
              pay: amountText(figures.pay_amount, figures.pay_currency),
              get: amountText(figures.receive_amount, figures.receive_currency),
            })
          : ''}
      </p>
      <Facts
        rows={[
          [t('buy.estimate.rate'), rateLine(figures.rate, cryptoCurrency, fiatCurrency)],
          [t('buy.estimate.fees'), feesText(figures, cryptoCurrency)],
        ]}
      />
      <FeesExplained price={figures} pair={{ side, cryptoCurrency, fiatCurrency }} />
      <p class="hint">{t('buy.fees.note')}</p>
    </section>
  );
}
