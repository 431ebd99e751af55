import type { ComponentChildren, JSX } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { t, tIfKnown } from '../i18n/i18n.ts';
import { ApiError } from '../session/api.ts';
import { recover } from '../session/store.ts';

/** The few parts that every screen is made of. Look and spacing are in styles.css; a screen has no styles of its own. */

type ButtonProps = {
  readonly children: ComponentChildren;
  readonly onClick?: () => unknown;
  readonly kind?: 'primary' | 'secondary' | 'link';
  readonly type?: 'button' | 'submit';
  readonly disabled?: boolean;
  readonly busy?: boolean;
  readonly testId?: string;
};

export function Button({
  children,
  onClick,
  kind = 'primary',
  type = 'button',
  disabled = false,
  busy = false,
  testId,
}: ButtonProps) {
  return (
    <button
      type={type}
      class={`button ${kind}`}
      disabled={disabled || busy}
      aria-busy={busy}
      data-testid={testId}
      onClick={() => void onClick?.()}
    >
      {busy ? <Spinner /> : null}
      <span>{children}</span>
    </button>
  );
}

export function Spinner() {
  return <span class="spinner" aria-hidden="true" />;
}

interface Explained {
  readonly id: string;
  readonly hint?: string | undefined;
  readonly error?: string | undefined;
}

/** What `Explanations` shows below a field, as the field names it for screen readers. */
export function describedBy(id: string, hint: string | undefined, error: string | undefined): string {
  return [hint === undefined ? '' : `${id}-hint`, error === undefined ? '' : `${id}-error`].join(' ').trim();
}

export function Explanations({ id, hint, error }: Explained) {
  return (
    <>
      {hint === undefined ? null : (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error === undefined ? null : (
        <p class="error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </>
  );
}

type FieldProps = {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly hint?: string | undefined;
  readonly error?: string | undefined;
  readonly input?: JSX.IntrinsicElements['input'];
  readonly testId?: string;
};

/** A labelled text field whose hint and error a screen reader reads with it. */
export function Field({ label, value, onInput, hint, error, input, testId }: FieldProps) {
  const id = useId();
  const described = describedBy(id, hint, error);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        type="text"
        autocomplete="off"
        {...input}
        id={id}
        value={value}
        data-testid={testId}
        aria-invalid={error !== undefined}
        {...(described === '' ? {} : { 'aria-describedby': described })}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      <Explanations id={id} hint={hint} error={error} />
    </div>
  );
}

type SelectProps = {
  readonly label: string;
  readonly value: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly onChange: (value: string) => void;
  readonly hint?: string | undefined;
  readonly testId?: string;
  readonly disabled?: boolean;
};

export function Select({ label, value, options, onChange, hint, testId, disabled = false }: SelectProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value}
        disabled={disabled}
        data-testid={testId}
        {...(hint === undefined ? {} : { 'aria-describedby': `${id}-hint` })}
        onChange={(event) => onChange(event.currentTarget.value)}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
      <Explanations id={id} hint={hint} />
    </div>
  );
}

/** Something to read: `role="alert"` interrupts a screen reader, so only what went wrong has it. */
export function Notice({
  kind = 'info',
  children,
  testId,
}: {
  readonly kind?: 'info' | 'warning' | 'danger' | 'success';
  readonly children: ComponentChildren;
  readonly testId?: string;
}) {
  return (
    <div class={`notice ${kind}`} role={kind === 'danger' ? 'alert' : 'status'} data-testid={testId}>
      {children}
    </div>
  );
}

/** What went wrong in words, and the id that support asks for. Codes without words of their own get those of their kind. */
export function Problem({ error, testId }: { readonly error: unknown; readonly testId?: string }) {
  if (error === null || error === undefined) return null;
  return (
    <Notice kind="danger" testId={testId ?? 'problem'}>
      <p>{problemText(error)}</p>
      {isForSupport(error) ? <p class="hint">{t('problem.reference', { id: error.requestId })}</p> : null}
    </Notice>
  );
}

/** A refusal that has words of its own says what to do; only what is ours, or unknown, is worth a reference. */
function isForSupport(error: unknown): error is ApiError & { readonly requestId: string } {
  return (
    error instanceof ApiError &&
    error.requestId !== null &&
    (error.status >= 500 || tIfKnown(`error.${error.code}`) === undefined)
  );
}

export function problemText(error: unknown): string {
  if (!(error instanceof ApiError)) return t('problem.unknown');
  return tIfKnown(`error.${error.code}`) ?? (error.status >= 500 ? t('problem.unknown') : error.message);
}

/** A value that is copied by a button beside it; what was copied is said aloud. */
export function CopyField({
  label,
  value,
  testId,
}: {
  readonly label: string;
  readonly value: string;
  readonly testId?: string;
}) {
  const [copied, setCopied] = useState(false);
  const text = useRef<HTMLElement>(null);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(value);
    } catch {
      // A page that gives the frame no clipboard: the value is selected, so that the usual keys copy it.
      if (text.current !== null) getSelection()?.selectAllChildren(text.current);
      return;
    }
    setCopied(true);
    setTimeout(() => setCopied(false), 2_000);
  };
  return (
    <div class="copy-field" data-testid={testId}>
      <div>
        <span class="copy-label">{label}</span>
        <bdi class="copy-value" ref={text}>
          {value}
        </bdi>
      </div>
      <button
        type="button"
        class="button secondary small"
        aria-label={t('copy.action', { label })}
        onClick={() => void copy()}
      >
        {copied ? t('copy.done') : t('copy.button')}
      </button>
      <span class="visually-hidden" aria-live="polite">
        {copied ? t('copy.said', { label }) : ''}
      </span>
    </div>
  );
}

/** The first screen takes no focus: the page around a frame may have it. */
let hasShownHeading = false;

/** The heading of a screen; it takes the focus when the screen appears, so that a screen reader begins there. */
export function Heading({ children }: { readonly children: ComponentChildren }) {
  const element = useRef<HTMLHeadingElement>(null);
  // Before the screen is painted: a later move would take the focus from a field that a fast typist is in already.
  useLayoutEffect(() => {
    if (hasShownHeading) element.current?.focus({ preventScroll: true });
    hasShownHeading = true;
  }, []);
  return (
    <h1 tabIndex={-1} ref={element}>
      {children}
    </h1>
  );
}

/** Names and values, one a line: fees, a receipt. */
export function Facts({
  rows,
}: {
  readonly rows: readonly (readonly [label: string, value: ComponentChildren])[];
}) {
  return (
    <dl class="facts">
      {rows.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Whether something is on its way, and what went wrong with it the last time. */
export function useTask(): {
  readonly busy: boolean;
  readonly error: unknown;
  readonly run: (work: () => Promise<void>) => Promise<void>;
  /** What went wrong has been put right elsewhere. */
  readonly reset: () => void;
} {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const run = async (work: () => Promise<void>) => {
    setBusy(true);
    setError(null);
    try {
      await work();
    } catch (thrown) {
      setError(await leftAfterRecovery(thrown));
    } finally {
      setBusy(false);
    }
  };
  return { busy, error, run, reset: () => setError(null) };
}

/** Null where the session had only expired and there is a new one. */
export async function leftAfterRecovery(error: unknown): Promise<unknown> {
  try {
    return (await recover(error)) ? null : error;
  } catch (again) {
    return again;
  }
}
