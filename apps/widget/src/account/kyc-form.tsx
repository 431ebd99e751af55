import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type MessageKey, t, tIfKnown } from '../i18n/i18n.ts';
import { ApiError } from '../session/api.ts';
import { api, session } from '../session/store.ts';
import { ChoiceField, ErrorSummary } from '../ui/form.tsx';
import { Button, Field, Problem, useTask } from '../ui/kit.tsx';
import { countryChoices } from './countries.ts';
import {
  type FieldProblem,
  fieldProblem,
  formSteps,
  type KycField,
  type KycValues,
  LEAST_AGE,
  RULES,
  serverProblems,
} from './kyc-steps.ts';

type Problems = Readonly<Partial<Record<KycField, string>>>;

const labelOf = (field: KycField): string => {
  const label = t(`kyc.${field}`);
  return RULES[field].isRequired ? label : t('kyc.optional', { label });
};

function problemWords(field: KycField, problem: FieldProblem): string {
  if (problem === 'age') return t('kyc.error.age', { years: LEAST_AGE });
  if (problem === 'tooLong') return t('kyc.error.tooLong', { max: RULES[field].max });
  return t(`kyc.error.${problem}`);
}

/** The day by the service’s clock where it is known: a wrong clock of the device must not refuse a birthday. */
function today(): Date {
  return new Date(session.value?.server_time ?? Date.now());
}

/**
 * The details in short steps. What the service knows already is not asked again; what it refuses is shown at its field, on
 * the step that has it.
 */
export function KycForm({
  asked,
  missing,
  submitLabel,
  onSubmitted,
}: {
  readonly asked: readonly string[];
  /** Of what is asked that which has to be said; the rest is known, and is asked because it may be wrong. */
  readonly missing: readonly string[];
  readonly submitLabel: string;
  readonly onSubmitted: () => Promise<unknown>;
}) {
  const [refused, setRefused] = useState<readonly string[]>([]);
  const steps = formSteps([...asked, ...refused]);
  const [at, setAt] = useState(0);
  const [values, setValues] = useState<KycValues>({});
  const [problems, setProblems] = useState<Problems>({});
  const [refusals, setRefusals] = useState(0);
  const { busy, error, run } = useTask();
  const index = Math.min(at, Math.max(0, steps.length - 1));
  const step = steps[index];
  const isLast = index >= steps.length - 1;

  // The next page begins where its heading is, for a reader of the screen too.
  const page = useRef<HTMLFieldSetElement>(null);
  const isFirst = useRef(true);
  useLayoutEffect(() => {
    if (!isFirst.current && Object.keys(problems).length === 0) page.current?.focus();
    isFirst.current = false;
  }, [index]);
  const isKnown = (field: KycField) => !missing.includes(field) && !refused.includes(field);
  const refuse = (found: Problems, where: number) => {
    setProblems(found);
    setAt(where);
    setRefusals((count) => count + 1);
  };

  const send = () =>
    run(async () => {
      try {
        await api().submitKyc({ method: 'direct_data', ...saidOf(values) });
      } catch (thrown) {
        const found = problemsOf(thrown);
        const names = Object.keys(found);
        if (names.length === 0) throw thrown;
        setRefused(names);
        const where = formSteps([...asked, ...names]).findIndex(({ fields }) =>
          fields.some((field) => names.includes(field)),
        );
        refuse(found, Math.max(0, where));
        return;
      }
      await onSubmitted();
    });

  const next = () => {
    const found = Object.fromEntries(
      (step?.fields ?? []).flatMap((field) => {
        const problem = fieldProblem(field, values[field] ?? '', today(), isKnown(field));
        return problem === undefined ? [] : [[field, problemWords(field, problem)]];
      }),
    ) as Problems;
    if (Object.keys(found).length > 0) return refuse(found, index);
    setProblems({});
    if (isLast) return send();
    setAt(index + 1);
  };

  const shown = (step?.fields ?? []).filter((field) => problems[field] !== undefined);
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (!busy) void next();
      }}
    >
      <ErrorSummary
        title={t('kyc.errorSummary', { count: shown.length })}
        refusals={refusals}
        errors={shown.map((field) => ({
          name: field,
          label: t(`kyc.${field}`),
          text: problems[field] ?? '',
        }))}
      />
      {step === undefined ? null : (
        <fieldset class="plain" data-step={step.name} tabIndex={-1} ref={page}>
          <legend>
            {t(`kyc.${step.name}.title`)}
            {steps.length > 1 ? (
              <span class="hint">{t('kyc.stepOf', { step: index + 1, steps: steps.length })}</span>
            ) : null}
          </legend>
          {step.fields.some((field) => RULES[field].isRequired && isKnown(field)) ? (
            <p class="hint">{t('kyc.againHint')}</p>
          ) : null}
          {step.fields.map((field) => (
            <KycInput
              key={field}
              field={field}
              isRequired={RULES[field].isRequired && !isKnown(field)}
              value={values[field] ?? ''}
              error={problems[field]}
              onInput={(value) => {
                setValues((before) => ({ ...before, [field]: value }));
                setProblems(({ [field]: _said, ...others }) => others);
              }}
            />
          ))}
        </fieldset>
      )}
      <Problem error={error} />
      <div class="actions">
        <Button type="submit" busy={busy} testId="kyc-submit">
          {isLast ? submitLabel : t('kyc.continue')}
        </Button>
        {index > 0 ? (
          <Button kind="secondary" testId="kyc-back" onClick={() => setAt(index - 1)}>
            {t('kyc.back')}
          </Button>
        ) : null}
      </div>
    </form>
  );
}

function saidOf(values: KycValues): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values)
      .map(([field, value]) => [field, value.trim()] as const)
      .filter(([, value]) => value !== ''),
  );
}

/** The service says in English what is wrong; ours says it in the customer’s language, with its own words where it has them. */
function problemsOf(thrown: unknown): Problems {
  if (!(thrown instanceof ApiError)) return {};
  return Object.fromEntries(
    serverProblems(thrown.details)
      .filter(({ path }) => Object.hasOwn(RULES, path))
      .map(({ path, message }) => {
        if (/required/.test(message)) return [path, t('kyc.error.required')];
        return [path, t(path === 'date_of_birth' ? 'kyc.error.date' : 'kyc.error.invalid')];
      }),
  ) as Problems;
}

type InputProps = {
  readonly field: KycField;
  readonly isRequired: boolean;
  readonly value: string;
  readonly error: string | undefined;
  readonly onInput: (value: string) => void;
};

function KycInput({ field, isRequired, value, error, onInput }: InputProps) {
  const rule = RULES[field];
  const hint = tIfKnown(`kyc.${field}.hint`);
  if (rule.kind === 'country' || rule.kind === 'choice') {
    const choices =
      rule.kind === 'country'
        ? countryChoices()
        : (rule.choices ?? []).map((one) => ({ value: one, label: t(`kyc.${field}.${one}` as MessageKey) }));
    return (
      <ChoiceField
        name={field}
        label={labelOf(field)}
        value={value}
        choices={choices}
        placeholder={t('kyc.chooseFirst')}
        isRequired={isRequired}
        hint={hint}
        error={error}
        autocomplete={rule.autocomplete}
        testId={`kyc-${field}`}
        onChange={onInput}
      />
    );
  }
  const input = { ...inputOf(field), 'data-field': field, 'aria-required': isRequired };
  return (
    <Field
      label={labelOf(field)}
      value={value}
      onInput={onInput}
      hint={hint}
      error={error}
      testId={`kyc-${field}`}
      input={input}
    />
  );
}

function inputOf(field: KycField): JSX.IntrinsicElements['input'] {
  const { kind, autocomplete = 'off' } = RULES[field];
  if (kind === 'date') {
    const day = today().toISOString().slice(0, 10);
    return { type: 'date', autocomplete, min: '1900-01-01', max: day };
  }
  if (kind === 'phone') return { type: 'tel', inputMode: 'tel', autocomplete };
  return { type: 'text', autocomplete, ...(field === 'id_number' ? { autocapitalize: 'characters' } : {}) };
}
