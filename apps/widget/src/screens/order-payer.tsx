import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import {
  detailsOf,
  type FieldProblem,
  formProblems,
  type Rail,
  type RailField,
  refusedFields,
} from '../account/rail-fields.ts';
import { labelOf, problemWords } from '../account/rail-words.ts';
import { t } from '../i18n/i18n.ts';
import { payText } from '../order/amounts.ts';
import { act, useOrderTask } from '../order/order-actions.ts';
import { ApiError, discover, type Order } from '../session/api.ts';
import { api } from '../session/store.ts';
import { ChoiceField } from '../ui/form.tsx';
import { Button, Field, Notice, Problem, Spinner } from '../ui/kit.tsx';
import type { PhaseProps } from './order-sections.tsx';

/** The payee asks for the money: it has to know whom to ask. The fields are those of the rail. */
export function PayerDetails({ order }: PhaseProps) {
  // Once the details are there, saying that it was paid is allowed.
  const isKnown = order.allowed_actions.includes('confirm-payment-sent');
  const mayChange = order.allowed_actions.includes('submit-payer-details');
  const [isChanging, setChanging] = useState(false);
  if (!mayChange) return null;
  if (isKnown && !isChanging) {
    return (
      <Notice kind="success" testId="payer-known">
        <p>{t('phase.pay.payer_sent', { amount: payText(order) })}</p>
        <Button kind="link" testId="payer-change" onClick={() => setChanging(true)}>
          {t('phase.pay.payer_again')}
        </Button>
      </Notice>
    );
  }
  return <PayerForm order={order} onDone={() => setChanging(false)} />;
}

function PayerForm({ order, onDone }: PhaseProps & { readonly onDone: () => void }) {
  const { form, error: unread, readAnew } = useRailForm(order);
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [problems, setProblems] = useState<Readonly<Record<string, FieldProblem>>>({});
  const { busy, error, once } = useOrderTask();
  if (form === null) return <NoForm error={unread} onRetry={readAnew} />;
  const submit = () => {
    const found = formProblems(form.fields, values, form.groups);
    setProblems(found);
    if (Object.keys(found).length > 0) return;
    const details = detailsOf(form.fields, values, 'individual');
    void once(async () => {
      try {
        await act(order.order_id, () => api().submitPayerDetails(order.order_id, details));
        onDone();
      } catch (thrown) {
        const refused = thrown instanceof ApiError ? refusedFields(thrown.details, form.fields) : {};
        setProblems(refused);
        if (Object.keys(refused).length === 0) throw thrown;
      }
    });
  };
  return (
    <form
      class="stack"
      noValidate
      data-testid="payer-form"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <h2>{t('phase.pay.payer_title')}</h2>
      <p>{t('phase.pay.payer_text')}</p>
      {form.fields.map((field) => (
        <PayerField
          key={field.key}
          field={field}
          value={values[field.key] ?? ''}
          error={errorOf(problems[field.key], form.fields)}
          onInput={(value) => setValues({ ...values, [field.key]: value })}
        />
      ))}
      <Problem error={error} />
      <Button type="submit" busy={busy} testId="payer-submit">
        {t('phase.pay.payer_submit')}
      </Button>
    </form>
  );
}

function NoForm({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => void }) {
  if (error === null) {
    return (
      <div class="loading" role="status">
        <Spinner />
      </div>
    );
  }
  return (
    <div class="stack">
      <Problem error={error} />
      <Button kind="secondary" testId="payer-retry" onClick={onRetry}>
        {t('buy.retry')}
      </Button>
    </div>
  );
}

function errorOf(problem: FieldProblem | undefined, fields: readonly RailField[]): string | undefined {
  return problem === undefined ? undefined : problemWords(problem, fields);
}

function PayerField({
  field,
  value,
  error,
  onInput,
}: {
  readonly field: RailField;
  readonly value: string;
  readonly error: string | undefined;
  readonly onInput: (value: string) => void;
}) {
  const own = labelOf(field);
  const label = field.required ? own : t('destination.fieldOptional', { label: own });
  if (field.options !== undefined) {
    return (
      <ChoiceField
        name={field.key}
        label={label}
        value={value}
        choices={field.options.map(({ code, name }) => ({ value: code, label: name }))}
        placeholder={t('destination.choose')}
        isRequired={field.required}
        error={error}
        testId={`payer-${field.key}`}
        onChange={onInput}
      />
    );
  }
  return (
    <Field
      label={label}
      value={value}
      onInput={onInput}
      hint={
        field.placeholder === undefined
          ? undefined
          : t('destination.fieldExample', { example: field.placeholder })
      }
      error={error}
      input={{ inputMode: field.type === 'tel' || field.type === 'email' ? field.type : 'text' }}
      testId={`payer-${field.key}`}
    />
  );
}

interface RailForm {
  readonly fields: readonly RailField[];
  readonly groups: readonly (readonly string[])[];
}

/** The fields of the order’s rail; where it has several formats, those of the institution that the order is paid by. */
function useRailForm({ payment_network_slug: rail, payment_method_slug: method, pay_currency }: Order) {
  const [form, setForm] = useState<RailForm | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [round, setRound] = useState(0);
  const readAnew = () => {
    setError(null);
    setRound((before) => before + 1);
  };
  const isUnread = error !== null;
  // Listening as soon as it is shown: the connection may be back in that moment.
  useLayoutEffect(() => {
    if (!isUnread) return;
    addEventListener('online', readAnew);
    return () => removeEventListener('online', readAnew);
  }, [isUnread]);
  useEffect(() => {
    const leaving = new AbortController();
    readRailForm(rail, method, pay_currency, leaving.signal).then(setForm, (thrown: unknown) => {
      if (!leaving.signal.aborted) setError(thrown);
    });
    return () => leaving.abort();
  }, [rail, method, pay_currency, round]);
  return { form, error, readAnew };
}

async function readRailForm(
  slug: string,
  method: string,
  currency: string,
  signal: AbortSignal,
): Promise<RailForm> {
  const query = new URLSearchParams({ currency, direction: 'onramp' });
  const { rails } = await discover<{ rails: readonly Rail[] }>(`payment-rails?${query}`, signal);
  const rail = rails.find((one) => one.slug === slug);
  if (rail === undefined) throw new ApiError('NOT_FOUND', t('problem.unknown'), 404, undefined, null);
  const groups = rail.require_one_of ?? [];
  if (rail.formats === undefined) return { fields: rail.fields, groups };
  const of = new URLSearchParams({ rail: slug, institution_id: method });
  const { institutions } = await discover<{ institutions: readonly { institution_type: string }[] }>(
    `institutions?${of}`,
    signal,
  );
  const type = institutions[0]?.institution_type;
  const format = rail.formats.find(
    ({ institution_types }) => type !== undefined && institution_types.includes(type),
  );
  return { fields: format?.fields ?? rail.fields, groups };
}
