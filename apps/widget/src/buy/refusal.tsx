import { t } from '../i18n/i18n.ts';
import { ApiError } from '../session/api.ts';
import type { Draft } from '../session/steps.ts';
import { Button, Notice, Problem } from '../ui/kit.tsx';
import { compareAmounts } from './amounts.ts';
import { countryName } from './names.ts';
import { amountText } from './price-panel.tsx';

/** Why there is no price, in words and with a way on: the nearest amount, another rail or country, or once more. */
interface Range {
  readonly currency?: string;
  readonly min_amount?: string;
  readonly max_amount?: string;
}

interface Exclusion extends Range {
  readonly condition: string;
  readonly available?: readonly string[];
}

export type WayOn =
  | { readonly kind: 'amount'; readonly amount: string; readonly currency: string }
  | { readonly kind: 'rail' | 'country'; readonly value: string }
  | { readonly kind: 'any-institution' }
  | { readonly kind: 'retry' };

export interface RefusalProps {
  readonly error: unknown;
  readonly draft: Draft;
  readonly railName: (slug: string) => string;
  readonly institutionName: string;
  readonly onWayOn: (way: WayOn) => void;
}

const PRICE_CODES = ['AMOUNT_OUT_OF_RANGE', 'NO_OFFERS_AVAILABLE'];

function detailsOf(error: ApiError): {
  readonly range: Range | undefined;
  readonly other: Exclusion | undefined;
} {
  const details = (error.details ?? {}) as Range & { readonly excluded_by?: readonly Exclusion[] };
  const excluded = details.excluded_by ?? [];
  const inRange = excluded.find((one) => one.condition === 'amount_range');
  const range = details.min_amount === undefined && details.max_amount === undefined ? inRange : details;
  return { range, other: excluded.find((one) => one.condition !== 'amount_range') };
}

export function Refusal(props: RefusalProps) {
  const { error, onWayOn } = props;
  if (error === null || error === undefined) return null;
  if (!(error instanceof ApiError) || !PRICE_CODES.includes(error.code)) {
    return (
      <>
        <Problem error={error} />
        <Button kind="secondary" testId="retry-estimate" onClick={() => onWayOn({ kind: 'retry' })}>
          {t('buy.retry')}
        </Button>
      </>
    );
  }
  const { range, other } = detailsOf(error);
  if (range?.currency !== undefined) return <OutOfRange range={range} {...props} />;
  return <NoOffers exclusion={other} {...props} />;
}

function OutOfRange({ range, draft, onWayOn }: RefusalProps & { readonly range: Range }) {
  const { currency = '', min_amount: min, max_amount: max } = range;
  const isTyped = currency === (draft.anchor === 'fiat' ? draft.fiatCurrency : draft.cryptoCurrency);
  const isBelow = isTyped && min !== undefined && compareAmounts(draft.amount, min) < 0;
  const isAbove = isTyped && max !== undefined && compareAmounts(draft.amount, max) > 0;
  const shown = (amount: string | undefined) => (amount === undefined ? '' : amountText(amount, currency));
  const nearest = isBelow ? min : isAbove ? max : (min ?? max);
  const words = isBelow
    ? t('buy.limit.below', { min: shown(min) })
    : isAbove
      ? t('buy.limit.above', { max: shown(max) })
      : min !== undefined && max !== undefined
        ? t('buy.limit.range', { min: shown(min), max: shown(max) })
        : min === undefined
          ? t('buy.limit.above', { max: shown(max) })
          : t('buy.limit.below', { min: shown(min) });
  return (
    <Notice kind="danger" testId="problem">
      <p>{words}</p>
      {nearest === undefined ? null : (
        <Button
          kind="secondary"
          testId="use-amount"
          onClick={() => onWayOn({ kind: 'amount', amount: nearest, currency })}
        >
          {t('buy.limit.use', { amount: shown(nearest) })}
        </Button>
      )}
    </Notice>
  );
}

function NoOffers(props: RefusalProps & { readonly exclusion: Exclusion | undefined }) {
  const { exclusion, draft, railName, institutionName, onWayOn } = props;
  const available = exclusion?.available ?? [];
  const offered = (kind: 'rail' | 'country', nameOf: (value: string) => string) =>
    available.map((value) => (
      <Button key={value} kind="secondary" testId="alternative" onClick={() => onWayOn({ kind, value })}>
        {nameOf(value)}
      </Button>
    ));
  const again = (
    <Button kind="secondary" testId="retry-estimate" onClick={() => onWayOn({ kind: 'retry' })}>
      {t('buy.retry')}
    </Button>
  );
  const [words, ways] =
    exclusion?.condition === 'rail' && available.length > 0
      ? [t('buy.no_offers.rail', { rail: railName(draft.rail) }), offered('rail', railName)]
      : exclusion?.condition === 'country' && available.length > 0
        ? [
            t('buy.no_offers.country', { country: countryName(draft.country) }),
            offered('country', countryName),
          ]
        : exclusion?.condition === 'payment_method' && draft.institution !== ''
          ? [
              t('buy.no_offers.payment_method', { institution: institutionName }),
              <Button
                key="any"
                kind="secondary"
                testId="alternative"
                onClick={() => onWayOn({ kind: 'any-institution' })}
              >
                {t('buy.no_offers.any_institution')}
              </Button>,
            ]
          : [exclusion?.condition === 'liquidity' ? t('buy.no_offers.liquidity') : t('buy.no_offers'), again];
  return (
    <Notice kind="danger" testId="problem">
      <p>{words}</p>
      <div class="row">{ways}</div>
    </Notice>
  );
}
