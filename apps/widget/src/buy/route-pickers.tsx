import { useEffect, useState } from 'preact/hooks';
import { t } from '../i18n/i18n.ts';
import type { Draft } from '../session/steps.ts';
import { session } from '../session/store.ts';
import { Select } from '../ui/kit.tsx';
import { Picker } from '../ui/picker.tsx';
import type { PickerOption } from '../ui/picker-filter.ts';
import { payableInstitutions, type Rail, railsOf } from './discovery.ts';
import { countryName } from './names.ts';
import { isFixed } from './pricing.ts';

const MINUTES_OF_HOUR = 60;
const MINUTES_OF_DAY = 1_440;

function speedOf(rail: Rail | undefined): string | undefined {
  const minutes = rail?.settlement?.typical_minutes;
  if (minutes === undefined) return undefined;
  if (minutes >= MINUTES_OF_DAY)
    return t('buy.rail.speed_days', { days: Math.ceil(minutes / MINUTES_OF_DAY) });
  if (minutes >= MINUTES_OF_HOUR)
    return t('buy.rail.speed_hours', { hours: Math.ceil(minutes / MINUTES_OF_HOUR) });
  return t('buy.rail.speed', { minutes });
}

/** The rails of a country and currency with their names; none while they are read. */
export function useRails({ country, fiatCurrency, side }: Draft): readonly Rail[] {
  const [rails, setRails] = useState<readonly Rail[]>([]);
  useEffect(() => {
    if (country === '' || fiatCurrency === '') return;
    let isWanted = true;
    railsOf(country, fiatCurrency, side).then(
      (found) => isWanted && setRails(found),
      // The names are a help only: without them the rails are called by their codes.
      () => isWanted && setRails([]),
    );
    return () => {
      isWanted = false;
    };
  }, [country, fiatCurrency, side]);
  return rails;
}

type RouteProps = {
  readonly draft: Draft;
  readonly countries: readonly string[];
  readonly railSlugs: readonly string[];
  readonly rails: readonly Rail[];
  readonly institution: PickerOption | null;
  readonly onCountry: (code: string) => void;
  readonly onRail: (slug: string) => void;
  readonly onInstitution: (option: PickerOption | null) => void;
};

/** Where the customer is and how the money goes. */
export function RoutePickers(props: RouteProps) {
  const { draft, countries, railSlugs, rails } = props;
  const { side, country, rail } = draft;
  const byName = countries
    .map((code) => ({ value: code, label: countryName(code) }))
    .toSorted((one, other) => one.label.localeCompare(other.label));
  const chosen = rails.find((one) => one.slug === rail);
  return (
    <>
      <div class="grid">
        <Select
          label={t('buy.country')}
          value={country}
          options={byName}
          disabled={isFixed(session.value, 'country_code')}
          testId="country"
          onChange={props.onCountry}
        />
        <Select
          label={t(`buy.rail.${side}`)}
          value={rail}
          options={railSlugs.map((slug) => ({
            value: slug,
            label: rails.find((one) => one.slug === slug)?.name ?? slug,
          }))}
          hint={speedOf(chosen)}
          testId="rail"
          onChange={props.onRail}
        />
      </div>
      {side === 'onramp' && rail !== '' ? <InstitutionPicker key={`${country}${rail}`} {...props} /> : null}
    </>
  );
}

/** Only where there is something to choose: a rail of one provider, or of a mere directory of banks, has no choice. */
function InstitutionPicker({ draft, institution, onInstitution }: RouteProps) {
  const { rail, country, fiatCurrency: currency } = draft;
  const [isChoice, setChoice] = useState(false);
  useEffect(() => {
    let isWanted = true;
    payableInstitutions({ rail, country, currency }).then(
      (found) => isWanted && setChoice(found.length > 1),
      () => isWanted && setChoice(false),
    );
    return () => {
      isWanted = false;
    };
  }, [rail, country, currency]);
  if (!isChoice) return null;
  return (
    <Picker
      label={t('buy.institution')}
      value={institution}
      placeholder={t('buy.institution.placeholder')}
      hint={t('buy.institution.hint')}
      testId="institution"
      search={(text) => payableInstitutions({ rail, country, currency, search: text })}
      onChange={onInstitution}
    />
  );
}

/** The chosen institution by name; after a reload only its id is known and the listing says the rest. */
export function useInstitution({ institution, rail, country, fiatCurrency: currency }: Draft) {
  const [known, setKnown] = useState<PickerOption | null>(null);
  useEffect(() => {
    if (institution === '' || known?.value === institution) return;
    payableInstitutions({ rail, country, currency, id: institution }).then(
      ([found]) => setKnown(found ?? { value: institution, label: institution }),
      () => setKnown({ value: institution, label: institution }),
    );
  }, [institution]);
  return { institution: known?.value === institution ? known : null, setInstitution: setKnown };
}
