import { useEffect, useState } from 'preact/hooks';
import { serverProblems } from '../account/kyc-steps.ts';
import {
  EMPTY_ENTRY,
  fieldName,
  INSTITUTION,
  type PayoutEntry,
  PayoutPart,
  payoutErrors,
  RailsTrouble,
  startEntry,
  useRails,
} from '../account/payout-part.tsx';
import {
  accountLine,
  chooseFormat,
  detailsOf,
  problemFromServer,
  type Rail,
  usability,
} from '../account/rail-fields.ts';
import { labelOf, problemWords } from '../account/rail-words.ts';
import { chosenAddress, type PastedAddress, WalletPart, walletErrors } from '../account/wallet-part.tsx';
import { connection } from '../host/wallet.ts';
import { t } from '../i18n/i18n.ts';
import { ApiError, type PaymentDetails } from '../session/api.ts';
import { api, change, draft } from '../session/store.ts';
import { ErrorSummary, Radios } from '../ui/form.tsx';
import { Button, Heading, Notice, Problem, useTask } from '../ui/kit.tsx';

type Errors = Readonly<Record<string, string>>;

/** Where the money goes: a wallet for what is bought; an account, and the wallet that pays, for what is sold. */
export function DestinationScreen() {
  return draft.value.side === 'onramp' ? <Delivery /> : <Payout />;
}

function usePasted() {
  return useState<PastedAddress>({ text: draft.value.walletAddress, isUnderstood: false });
}

/** Field errors, shown once the customer wants to go on, and the summary that takes the focus then. */
function useErrors() {
  const [errors, setErrors] = useState<Errors>({});
  const [refusals, setRefusals] = useState(0);
  const refuse = (found: Errors): boolean => {
    setErrors(found);
    if (Object.keys(found).length === 0) return false;
    setRefusals((count) => count + 1);
    return true;
  };
  /** What was changed is wrong no longer, as far as anybody knows; the next attempt tells. */
  const forget = (names: readonly string[]) =>
    setErrors((before) =>
      Object.fromEntries(Object.entries(before).filter(([name]) => !names.includes(name))),
    );
  const address = connection.value?.address;
  useEffect(() => forget(WALLET_FIELDS), [address]);
  return { errors, refusals, refuse, forget };
}

const WALLET_FIELDS = ['wallet-address', 'wallet-understand'];

/** The fields of an entry that differ from before. */
function changedFields(before: PayoutEntry, after: PayoutEntry): readonly string[] {
  const values = Object.keys(after.values).filter((key) => before.values[key] !== after.values[key]);
  const isMoved =
    before.rail !== after.rail || before.country !== after.country || before.kind !== after.kind;
  return [
    ...values.map(fieldName),
    ...(before.institution === after.institution ? [] : [INSTITUTION]),
    ...(before.beneficiary === after.beneficiary ? [] : [fieldName('beneficiary_type')]),
    ...(isMoved ? ['country', 'rail', 'format'].map(fieldName) : []),
  ];
}

function Delivery() {
  const [pasted, setPasted] = usePasted();
  const { errors, refusals, refuse, forget } = useErrors();
  const { cryptoCurrency } = draft.value;
  const next = () => {
    if (refuse(walletErrors(pasted))) return;
    const reading = chosenAddress(pasted);
    if (reading.ok)
      change({ walletAddress: reading.address, paymentDetailsId: null, isDestinationDone: true });
  };
  return (
    <form
      class="screen"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        next();
      }}
    >
      <Heading>{t('destination.receiveHeading', { currency: cryptoCurrency })}</Heading>
      <Summary errors={errors} refusals={refusals} rails={[]} entry={EMPTY_ENTRY} />
      <WalletPart
        isPayer={false}
        currency={cryptoCurrency}
        pasted={pasted}
        onPasted={(text) => {
          forget(WALLET_FIELDS);
          setPasted(text);
        }}
        errors={errors}
      />
      <Button type="submit" testId="continue">
        {t('destination.continue')}
      </Button>
    </form>
  );
}

const NEW = 'new';
const SCREENING_LOOKS = 5;
const SCREENING_WAIT_MS = 1_000;

function Payout() {
  const { fiatCurrency, cryptoCurrency, paymentDetailsId } = draft.value;
  const { rails, error: railsError } = useRails(fiatCurrency);
  const { saved, load, error: savedError } = useSaved(fiatCurrency);
  const [choice, setChoice] = useState(paymentDetailsId === null ? '' : String(paymentDetailsId));
  const [entry, setEntry] = useState<PayoutEntry | null>(null);
  const [pasted, setPasted] = usePasted();
  const { errors, refusals, refuse, forget } = useErrors();
  const { busy, error, run } = useTask();
  const [held, setHeld] = useState<'wait' | 'no' | null>(null);
  useEffect(() => {
    if (rails !== null && entry === null) setEntry(startEntry(rails));
  }, [rails, entry]);
  if (rails === null || saved === null || entry === null) {
    return (
      <div class="screen">
        <Heading>{t('destination.payoutHeading', { currency: fiatCurrency })}</Heading>
        <RailsTrouble error={railsError ?? savedError} />
      </div>
    );
  }
  const known = saved.find(({ id }) => String(id) === choice && choice !== NEW);
  const picked = known ?? (choice === '' ? saved.find((one) => usability(one) === 'yes') : undefined);

  const next = () =>
    run(async () => {
      setHeld(null);
      const found = { ...(picked === undefined ? payoutErrors(rails, entry) : {}), ...walletErrors(pasted) };
      const reading = chosenAddress(pasted);
      if (refuse(found) || !reading.ok) return;
      const account = picked ?? (await add(rails, entry, refuse));
      if (account === null) return;
      const settled = await untilScreened(account, load);
      setChoice(String(settled.id));
      const usable = usability(settled);
      if (usable !== 'yes') return setHeld(usable);
      change({
        walletAddress: reading.address,
        paymentDetailsId: settled.id,
        rail: settled.rail,
        country: settled.country_code,
        institution: settled.institution_id ?? '',
        isDestinationDone: true,
      });
    });

  return (
    <form
      class="screen"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (!busy) void next();
      }}
    >
      <Heading>{t('destination.payoutHeading', { currency: fiatCurrency })}</Heading>
      <Summary errors={errors} refusals={refusals} rails={rails} entry={entry} />
      <Saved
        saved={saved}
        rails={rails}
        value={picked === undefined ? NEW : String(picked.id)}
        onChange={(value) => {
          setHeld(null);
          setChoice(value);
        }}
      />
      {picked === undefined ? (
        <fieldset class="plain">
          <legend>{t('destination.payoutLegend')}</legend>
          <PayoutPart
            rails={rails}
            entry={entry}
            errors={errors}
            onEntry={(changed) => {
              forget(changedFields(entry, changed));
              setEntry(changed);
            }}
          />
        </fieldset>
      ) : null}
      {held === null ? null : (
        <Notice kind="warning" testId="account-held">
          {held === 'wait' ? t('destination.accountChecked') : t('destination.accountRefused')}
        </Notice>
      )}
      <WalletPart
        isPayer
        currency={cryptoCurrency}
        pasted={pasted}
        onPasted={(text) => {
          forget(WALLET_FIELDS);
          setPasted(text);
        }}
        errors={errors}
      />
      <Problem error={error} />
      <Button type="submit" busy={busy} testId="continue">
        {t('destination.continue')}
      </Button>
    </form>
  );
}

function useSaved(currency: string) {
  const [saved, setSaved] = useState<readonly PaymentDetails[] | null>(null);
  const { error, run } = useTask();
  const load = async (): Promise<readonly PaymentDetails[]> => {
    const { payment_details: all } = await api().paymentDetails();
    const fitting = all.filter((one) => one.currency === currency);
    setSaved(fitting);
    return fitting;
  };
  useEffect(() => void run(async () => void (await load())), [currency]);
  return { saved, load, error };
}

/** Most holders are clear at once; one that takes longer is shown as such. */
async function untilScreened(
  account: PaymentDetails,
  load: () => Promise<readonly PaymentDetails[]>,
): Promise<PaymentDetails> {
  let current = account;
  for (let look = 0; look < SCREENING_LOOKS && usability(current) === 'wait'; look++) {
    await new Promise((resolve) => setTimeout(resolve, SCREENING_WAIT_MS));
    current = (await load()).find(({ id }) => id === account.id) ?? current;
  }
  return current;
}

/** Keeps the account with the service; null where it has refused a field, which is then shown. */
async function add(
  rails: readonly Rail[],
  entry: PayoutEntry,
  refuse: (errors: Errors) => boolean,
): Promise<PaymentDetails | null> {
  const rail = rails.find(({ slug }) => slug === entry.rail);
  if (rail === undefined) return null;
  const { fields } = chooseFormat(rail, entry.beneficiary, entry.kind);
  try {
    return await api().addPaymentDetails({
      rail: rail.slug,
      currency: draft.value.fiatCurrency,
      country_code: entry.country,
      ...(entry.institution === null ? {} : { institution_id: entry.institution.value }),
      details: detailsOf(fields, entry.values, entry.beneficiary),
    });
  } catch (thrown) {
    const problems = thrown instanceof ApiError ? serverProblems(thrown.details) : [];
    const words = problems.map(({ path, message }) => [
      path === 'institution_id' ? INSTITUTION : fieldName(path === 'country_code' ? 'country' : path),
      problemWords(problemFromServer(message), fields),
    ]);
    const needsInstitution = thrown instanceof ApiError && /^INSTITUTION_/.test(thrown.code);
    if (needsInstitution) words.push([INSTITUTION, t('destination.problem.invalid')]);
    if (words.length === 0) throw thrown;
    refuse(Object.fromEntries(words) as Errors);
    return null;
  }
}

function Saved({
  saved,
  rails,
  value,
  onChange,
}: {
  readonly saved: readonly PaymentDetails[];
  readonly rails: readonly Rail[];
  readonly value: string;
  readonly onChange: (value: string) => void;
}) {
  if (saved.length === 0) return null;
  const hints = {
    yes: undefined,
    wait: t('destination.accountChecked'),
    no: t('destination.accountRefused'),
  };
  return (
    <Radios
      name="saved-account"
      legend={t('destination.savedLegend')}
      value={value}
      testId="saved-account"
      onChange={onChange}
      choices={[
        ...saved.map((one) => {
          const rail = rails.find(({ slug }) => slug === one.rail)?.name ?? one.rail;
          return {
            value: String(one.id),
            label: rail,
            hint: hints[usability(one)],
            disabled: usability(one) === 'no',
            children: (
              <>
                <bdi>{accountLine(one)}</bdi>
                <span class="hint">{rail}</span>
              </>
            ),
          };
        }),
        { value: NEW, label: t('destination.newAccount') },
      ]}
    />
  );
}

function Summary({
  errors,
  refusals,
  rails,
  entry,
}: {
  readonly errors: Errors;
  readonly refusals: number;
  readonly rails: readonly Rail[];
  readonly entry: PayoutEntry;
}) {
  const rail = rails.find(({ slug }) => slug === entry.rail);
  const fields = rail === undefined ? [] : chooseFormat(rail, entry.beneficiary, entry.kind).fields;
  const labels: Readonly<Record<string, string>> = {
    'wallet-address': t('wallet.paste'),
    'wallet-understand': t('wallet.shown'),
    [INSTITUTION]: t('destination.institution'),
    [fieldName('country')]: t('destination.country'),
    [fieldName('rail')]: t('destination.method'),
    [fieldName('format')]: t('destination.format'),
    [fieldName('beneficiary_type')]: t('destination.beneficiary'),
    ...Object.fromEntries(fields.map((field) => [fieldName(field.key), labelOf(field)])),
  };
  const list = Object.entries(errors).map(([name, text]) => ({ name, text, label: labels[name] ?? name }));
  return (
    <ErrorSummary
      title={t('destination.errorSummary', { count: list.length })}
      errors={list}
      refusals={refusals}
    />
  );
}
