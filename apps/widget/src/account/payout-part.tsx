import type { InstitutionListSchema } from '@causeway/protocol';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Static } from 'typebox';
import { t } from '../i18n/i18n.ts';
import { discover } from '../session/api.ts';
import { draft, session } from '../session/store.ts';
import { ChoiceField, Radios } from '../ui/form.tsx';
import { Field, Notice, Problem } from '../ui/kit.tsx';
import { Picker, type PickerOption } from '../ui/picker.tsx';
import { countryChoices } from './countries.ts';
import {
  type Beneficiary,
  beneficiariesOf,
  chooseFormat,
  formProblems,
  type Rail,
  type RailField,
} from './rail-fields.ts';
import { labelOf, problemWords } from './rail-words.ts';

/** A payout account while it is filled in. */
export interface PayoutEntry {
  readonly country: string;
  readonly rail: string;
  readonly beneficiary: Beneficiary;
  /** The format, where the rail has several. */
  readonly kind: string;
  readonly institution: PickerOption | null;
  readonly values: Readonly<Record<string, string>>;
}

export const EMPTY_ENTRY: PayoutEntry = {
  country: '',
  rail: '',
  beneficiary: 'individual',
  kind: '',
  institution: null,
  values: {},
};

/** Rails that pay out in the draft’s currency; null while they are fetched. */
export function useRails(currency: string): {
  readonly rails: readonly Rail[] | null;
  readonly error: unknown;
} {
  const [rails, setRails] = useState<readonly Rail[] | null>(null);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    const abort = new AbortController();
    const query = new URLSearchParams({ currency, direction: 'offramp' });
    discover<{ rails: readonly Rail[] }>(`payment-rails?${query}`, abort.signal).then(
      (found) => setRails(found.rails),
      (thrown: unknown) => abort.signal.aborted || setError(thrown),
    );
    return () => abort.abort();
  }, [currency]);
  return { rails, error };
}

/** What the customer said at the amount, as far as it can be paid out to. */
export function startEntry(rails: readonly Rail[]): PayoutEntry {
  const { country: wanted, rail: wantedRail } = draft.value;
  const countries = [...new Set(rails.flatMap(({ countries: served }) => served))];
  const country = countries.includes(wanted) ? wanted : countries.length === 1 ? (countries[0] ?? '') : '';
  return { ...EMPTY_ENTRY, country, rail: railFor(rails, country, wantedRail) };
}

function railFor(rails: readonly Rail[], country: string, wanted: string): string {
  const served = rails.filter(({ countries }) => countries.includes(country));
  return (
    served.find(({ slug }) => slug === wanted)?.slug ?? (served.length === 1 ? (served[0]?.slug ?? '') : '')
  );
}

export const fieldName = (key: string): string => `payout-${key}`;
export const INSTITUTION = 'institution-search';

/** Everything that is wrong with the entry, in words, by field. */
export function payoutErrors(rails: readonly Rail[], entry: PayoutEntry): Readonly<Record<string, string>> {
  const rail = rails.find(({ slug }) => slug === entry.rail);
  const required = t('destination.problem.required');
  if (entry.country === '') return { [fieldName('country')]: required };
  if (rail === undefined) return { [fieldName('rail')]: required };
  const { kinds, fields } = chooseFormat(rail, entry.beneficiary, entry.kind);
  if (kinds.length > 0 && fields.length === 0) return { [fieldName('format')]: required };
  const problems = Object.entries(formProblems(fields, entry.values, rail.require_one_of)).map(
    ([key, problem]) => [fieldName(key), problemWords(problem, fields)] as const,
  );
  return {
    ...(rail.institution_required && entry.institution === null ? { [INSTITUTION]: required } : {}),
    ...Object.fromEntries(problems),
  };
}

type PayoutPartProps = {
  readonly rails: readonly Rail[];
  readonly entry: PayoutEntry;
  readonly onEntry: (entry: PayoutEntry) => void;
  readonly errors: Readonly<Record<string, string>>;
};

/** A new account: country, rail, whose it is, the institution, and the fields that the rail asks for. */
export function PayoutPart({ rails, entry, onEntry, errors }: PayoutPartProps) {
  const { start, locked } = session.value ?? {};
  const countries = [...new Set(rails.flatMap(({ countries: served }) => served))];
  const served = rails.filter((one) => one.countries.includes(entry.country));
  const rail = served.find(({ slug }) => slug === entry.rail);
  const change = (part: Partial<PayoutEntry>) => onEntry({ ...entry, ...part });
  return (
    <div class="stack">
      <ChoiceField
        name={fieldName('country')}
        label={t('destination.country')}
        value={entry.country}
        choices={countryChoices(countries)}
        placeholder={t('destination.choose')}
        isRequired
        disabled={locked === true && start?.country_code !== undefined}
        error={errors[fieldName('country')]}
        testId="payout-country"
        onChange={(country) =>
          change({ country, rail: railFor(rails, country, entry.rail), kind: '', institution: null })
        }
      />
      {entry.country !== '' && served.length === 0 ? (
        <Notice kind="warning">{t('destination.noRails', { currency: draft.value.fiatCurrency })}</Notice>
      ) : null}
      {served.length === 0 ? null : (
        <ChoiceField
          name={fieldName('rail')}
          label={t('destination.method')}
          value={entry.rail}
          choices={served.map(({ slug, name }) => ({ value: slug, label: name }))}
          placeholder={t('destination.choose')}
          isRequired
          error={errors[fieldName('rail')]}
          testId="payout-rail"
          onChange={(slug) => change({ rail: slug, kind: '', institution: null })}
        />
      )}
      {rail === undefined ? null : (
        <RailPart key={rail.slug} rail={rail} entry={entry} errors={errors} change={change} />
      )}
    </div>
  );
}

function RailPart({
  rail,
  entry,
  errors,
  change,
}: {
  readonly rail: Rail;
  readonly entry: PayoutEntry;
  readonly errors: Readonly<Record<string, string>>;
  readonly change: (part: Partial<PayoutEntry>) => void;
}) {
  const beneficiaries = beneficiariesOf(rail);
  const { kinds, fields, institutionTypes } = chooseFormat(rail, entry.beneficiary, entry.kind);
  const needsInstitution = rail.institution_required && (kinds.length === 0 || fields.length > 0);
  return (
    <>
      {beneficiaries.length < 2 ? null : (
        <Radios
          name={fieldName('beneficiary_type')}
          legend={t('destination.beneficiary')}
          value={entry.beneficiary}
          choices={beneficiaries.map((one) => ({ value: one, label: t(`destination.beneficiary.${one}`) }))}
          error={errors[fieldName('beneficiary_type')]}
          testId="payout-beneficiary"
          onChange={(one) => change({ beneficiary: one as Beneficiary, kind: '' })}
        />
      )}
      {kinds.length === 0 ? null : (
        <Radios
          name={fieldName('format')}
          legend={t('destination.format')}
          value={entry.kind}
          choices={kinds.map(({ id, name }) => ({ value: id, label: name }))}
          error={errors[fieldName('format')]}
          testId="payout-format"
          onChange={(kind) => change({ kind, institution: null })}
        />
      )}
      {needsInstitution ? (
        <Picker
          key={entry.kind}
          label={t('destination.institution')}
          placeholder={t('destination.institution.search')}
          value={entry.institution}
          search={(text, signal) => institutionsOf(rail, entry.country, institutionTypes, text, signal)}
          error={errors[INSTITUTION]}
          testId={INSTITUTION}
          onChange={(institution) => change({ institution })}
        />
      ) : null}
      {fields.map((field) => (
        <RailInput
          key={field.key}
          field={field}
          groups={rail.require_one_of ?? []}
          value={entry.values[field.key] ?? ''}
          error={errors[fieldName(field.key)]}
          onInput={(value) => change({ values: { ...entry.values, [field.key]: value } })}
        />
      ))}
    </>
  );
}

const LISTED = 100;

async function institutionsOf(
  rail: Rail,
  country: string,
  types: readonly string[] | null,
  text: string,
  signal: AbortSignal,
): Promise<readonly PickerOption[]> {
  const query = new URLSearchParams({ rail: rail.slug, country, limit: String(LISTED) });
  if (text.trim() !== '') query.set('search', text.trim());
  const { institutions } = await discover<Static<typeof InstitutionListSchema>>(
    `institutions?${query}`,
    signal,
  );
  return institutions
    .filter(({ institution_type }) => types === null || types.includes(institution_type))
    .map(({ id, name, branch }) => ({ value: id, label: name, hint: branch?.name }));
}

type RailInputProps = {
  readonly field: RailField;
  readonly groups: readonly (readonly string[])[];
  readonly value: string;
  readonly error: string | undefined;
  readonly onInput: (value: string) => void;
};

function RailInput({ field, groups, value, error, onInput }: RailInputProps) {
  const isOneOf = groups.some((group) => group.includes(field.key));
  const own = labelOf(field);
  const label = field.required || isOneOf ? own : t('destination.fieldOptional', { label: own });
  if (field.options !== undefined) {
    return (
      <ChoiceField
        name={fieldName(field.key)}
        label={label}
        value={value}
        choices={field.options.map(({ code, name }) => ({ value: code, label: name }))}
        placeholder={t('destination.choose')}
        isRequired={field.required}
        error={error}
        testId={fieldName(field.key)}
        onChange={onInput}
      />
    );
  }
  const hint =
    field.placeholder === undefined
      ? undefined
      : t('destination.fieldExample', { example: field.placeholder });
  return (
    <Field
      label={label}
      value={value}
      onInput={onInput}
      hint={hint}
      error={error}
      input={inputOf(field)}
      testId={fieldName(field.key)}
    />
  );
}

const TYPES: Readonly<Record<string, 'text' | 'email' | 'tel'>> = { email: 'email', tel: 'tel' };

function inputOf(field: RailField): JSX.IntrinsicElements['input'] {
  const type = TYPES[field.type] ?? 'text';
  const isDigits = field.pattern !== undefined && /^\^\[0-9\]\{[\d,]+\}\$$/.test(field.pattern);
  const attributes = {
    type,
    'data-field': fieldName(field.key),
    'aria-required': field.required,
    spellcheck: false,
    // The service drops separators before it counts; what is far longer than that is no value.
    maxLength: field.max_length * 2 + 16,
    dir: type === 'text' && /name|address|reference/.test(field.key) ? ('auto' as const) : ('ltr' as const),
    ...(isDigits ? { inputMode: 'numeric' as const } : {}),
  };
  return attributes as JSX.IntrinsicElements['input'];
}

/** While the rails are on their way, or cannot be read. */
export function RailsTrouble({ error }: { readonly error: unknown }) {
  return error === null ? <p role="status">{t('loading')}</p> : <Problem error={error} />;
}
