import { useId } from 'preact/hooks';
import { t } from '../i18n/i18n.ts';
import { currencyName } from './names.ts';

type AmountBoxProps = {
  readonly label: string;
  readonly kind: 'fiat' | 'crypto';
  readonly value: string;
  readonly onInput: (typed: string) => void;
  readonly isFixed: boolean;
  /** These are figures of a moment ago; new ones are on their way. */
  readonly isWaiting: boolean;
  readonly error: string | undefined;
  readonly currency: string;
  readonly currencies: readonly string[];
  readonly isCurrencyFixed: boolean;
  readonly onCurrency: (code: string) => void;
};

/** More characters than fit beside the currency at full size. */
const LONG = 9;

/** An amount and its currency. The list of currencies is the browser’s own: it is searched by typing, and fits a telephone. */
export function AmountBox(props: AmountBoxProps) {
  const { label, kind, value, currency, currencies, error } = props;
  const id = useId();
  return (
    <div>
      <div class={`amount ${error === undefined ? '' : 'invalid'}`}>
        <label for={id}>{label}</label>
        <div>
          <input
            id={id}
            type="text"
            inputMode="decimal"
            autocomplete="off"
            placeholder="0"
            dir="ltr"
            class={`${props.isWaiting ? 'waiting' : ''} ${value.length > LONG ? 'long' : ''}`}
            value={value}
            readOnly={props.isFixed}
            data-testid={`amount-${kind}`}
            aria-invalid={error !== undefined}
            {...(error === undefined ? {} : { 'aria-describedby': `${id}-error` })}
            onInput={(event) => props.onInput(event.currentTarget.value)}
          />
          <span class={`unit ${props.isCurrencyFixed ? 'fixed' : ''}`}>
            <span aria-hidden="true">{currency}</span>
            <select
              aria-label={t(kind === 'fiat' ? 'buy.fiat_currency' : 'buy.crypto_currency')}
              value={currency}
              disabled={props.isCurrencyFixed}
              data-testid={`${kind}-currency`}
              onChange={(event) => props.onCurrency(event.currentTarget.value)}
            >
              {currencies.map((code) => (
                <option key={code} value={code}>
                  {kind === 'fiat' ? `${code} · ${currencyName(code)}` : code}
                </option>
              ))}
            </select>
          </span>
        </div>
      </div>
      {error === undefined ? null : (
        <p class="error" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
    </div>
  );
}
