import { THEME_VARIABLES, type WidgetTheme } from '@causeway/protocol/widget';
import type { MountOptions } from '@causeway/widget';
import type { PlaygroundData } from './sandbox.ts';

/** Every option of `mount` that is not a callback, as a field. */
const TEXTS = [
  ['widgetKey', 'Widget key', 'cw_widget_…'],
  ['fiatCurrency', 'Fiat currency', 'EUR'],
  ['cryptoCurrency', 'Crypto currency', 'USDC'],
  ['amount', 'Amount (fiat)', '100'],
  ['country', 'Country', 'DE'],
  ['wallet', 'Wallet', '0x…'],
  ['userReference', 'Your reference of the customer', 'customer-1'],
] as const;

export function startingOptions(data: PlaygroundData): MountOptions {
  return {
    widgetKey: data.widgetKey ?? '',
    side: 'onramp',
    fiatCurrency: 'EUR',
    cryptoCurrency: 'USDC',
    amount: '100',
    country: 'DE',
    theme: { mode: 'auto', variables: {} },
  };
}

/** Empty fields are options that are not given. */
export function cleaned(options: MountOptions): MountOptions {
  const entries = Object.entries(options).filter(([, value]) => value !== '' && value !== undefined);
  const { theme, ...rest } = Object.fromEntries(entries) as MountOptions;
  const variables = Object.entries(theme?.variables ?? {}).filter(([, value]) => value !== '');
  const hasTheme = variables.length > 0 || (theme?.mode !== undefined && theme.mode !== 'auto');
  if (!hasTheme || theme === undefined) return rest;
  const { mode } = theme;
  return {
    ...rest,
    theme: {
      ...(mode === undefined ? {} : { mode }),
      ...(variables.length === 0 ? {} : { variables: Object.fromEntries(variables) }),
    },
  };
}

interface OptionsFormProps {
  readonly data: PlaygroundData;
  readonly value: MountOptions;
  readonly onChange: (options: MountOptions) => void;
  readonly walletAddress: string;
  readonly onSession: (() => void) | undefined;
}

export function OptionsForm({ data, value, onChange, walletAddress, onSession }: OptionsFormProps) {
  const change = (part: Partial<MountOptions>) => onChange({ ...value, ...part });
  return (
    <section aria-labelledby="options-title">
      <h2 id="options-title">Options of mount</h2>
      <form class="options" onSubmit={(event) => event.preventDefault()}>
        <Choice
          label="Side"
          value={value.side ?? 'onramp'}
          choices={['onramp', 'offramp']}
          onChange={(side) => change({ side: side as 'onramp' | 'offramp' })}
        />
        {TEXTS.map(([name, label, example]) => (
          <label key={name}>
            {label}
            <input
              type="text"
              autocomplete="off"
              spellcheck={false}
              placeholder={example}
              value={value[name] ?? ''}
              data-testid={`option-${name}`}
              onInput={(event) => change({ [name]: event.currentTarget.value })}
            />
          </label>
        ))}
        <button type="button" onClick={() => change({ wallet: walletAddress })}>
          Use the test wallet’s address
        </button>
        <Choice
          label="Language"
          value={value.locale ?? ''}
          choices={['', ...data.locales]}
          onChange={(locale) => change({ locale })}
        />
        <ThemeFields theme={value.theme ?? {}} onChange={(theme) => change({ theme })} />
        {onSession === undefined ? null : (
          <button type="button" data-testid="open-session" onClick={onSession}>
            Open as a server-made session
          </button>
        )}
      </form>
    </section>
  );
}

function ThemeFields({
  theme,
  onChange,
}: {
  readonly theme: WidgetTheme;
  readonly onChange: (theme: WidgetTheme) => void;
}) {
  return (
    <>
      <Choice
        label="Theme"
        value={theme.mode ?? 'auto'}
        choices={['auto', 'light', 'dark']}
        onChange={(mode) => onChange({ ...theme, mode: mode as NonNullable<WidgetTheme['mode']> })}
      />
      <details>
        <summary>Theme variables</summary>
        {THEME_VARIABLES.map((name) => (
          <label key={name}>
            {name}
            <input
              type="text"
              autocomplete="off"
              value={theme.variables?.[name] ?? ''}
              data-testid={`variable-${name}`}
              onInput={(event) =>
                onChange({ ...theme, variables: { ...theme.variables, [name]: event.currentTarget.value } })
              }
            />
          </label>
        ))}
      </details>
    </>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly choices: readonly string[];
  readonly onChange: (value: string) => void;
}

function Choice({ label, value, choices, onChange }: ChoiceProps) {
  return (
    <label>
      {label}
      <select
        value={value}
        data-testid={`option-${label.toLowerCase()}`}
        onChange={(event) => onChange(event.currentTarget.value)}
      >
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {choice === '' ? 'the browser’s' : choice}
          </option>
        ))}
      </select>
    </label>
  );
}
