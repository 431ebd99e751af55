import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { describedBy, Explanations } from './kit.tsx';

/** Parts of forms that are judged as a whole: each field carries `data-field`, by which a summary of errors leads to it. */

export interface Choice {
  readonly value: string;
  readonly label: string;
}

type ChoiceFieldProps = {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly choices: readonly Choice[];
  readonly onChange: (value: string) => void;
  /** Shown while nothing is chosen, and cannot be chosen itself unless the field is optional. */
  readonly placeholder: string;
  readonly isRequired?: boolean;
  readonly hint?: string | undefined;
  readonly error?: string | undefined;
  readonly testId?: string;
  readonly disabled?: boolean;
  readonly autocomplete?: string | undefined;
};

/** One of a list that the browser shows: countries, kinds of document. */
export function ChoiceField(props: ChoiceFieldProps) {
  const { name, label, value, choices, onChange, placeholder, hint, error, testId } = props;
  const id = useId();
  const described = describedBy(id, hint, error);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value}
        disabled={props.disabled ?? false}
        autocomplete={props.autocomplete ?? 'off'}
        data-field={name}
        data-testid={testId}
        aria-invalid={error !== undefined}
        aria-required={props.isRequired ?? false}
        {...(described === '' ? {} : { 'aria-describedby': described })}
        onChange={(event) => onChange(event.currentTarget.value)}
      >
        <option value="" disabled={props.isRequired ?? false}>
          {placeholder}
        </option>
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
      <Explanations id={id} hint={hint} error={error} />
    </div>
  );
}

type RadiosProps = {
  readonly name: string;
  readonly legend: string;
  readonly value: string;
  readonly choices: readonly (Choice & {
    readonly hint?: string | undefined;
    readonly disabled?: boolean;
    readonly children?: ComponentChildren;
  })[];
  readonly onChange: (value: string) => void;
  readonly error?: string | undefined;
  readonly testId?: string;
};

/** One of a few, all of them in sight. */
export function Radios({ name, legend, value, choices, onChange, error, testId }: RadiosProps) {
  const id = useId();
  return (
    <fieldset
      class="plain"
      aria-invalid={error !== undefined}
      {...(error === undefined ? {} : { 'aria-describedby': `${id}-error` })}
    >
      <legend>{legend}</legend>
      <div class="choices">
        {choices.map((choice) => (
          <label key={choice.value} class="choice">
            <input
              type="radio"
              name={id}
              value={choice.value}
              checked={choice.value === value}
              disabled={choice.disabled ?? false}
              data-field={name}
              data-testid={testId}
              onChange={() => onChange(choice.value)}
            />
            <span>
              {choice.children ?? choice.label}
              {choice.hint === undefined ? null : <span class="hint">{choice.hint}</span>}
            </span>
          </label>
        ))}
      </div>
      {error === undefined ? null : (
        <p class="error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </fieldset>
  );
}

export interface FieldError {
  readonly name: string;
  readonly label: string;
  readonly text: string;
}

/**
 * What is wrong with the form, above it. It takes the focus each time the form was refused, so that a screen reader hears of
 * all of it; each entry leads to its field.
 */
export function ErrorSummary({
  title,
  errors,
  refusals,
}: {
  readonly title: string;
  readonly errors: readonly FieldError[];
  /** How often the form was refused; a change takes the focus. */
  readonly refusals: number;
}) {
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (refusals > 0) element.current?.focus();
  }, [refusals]);
  if (errors.length === 0) return null;
  return (
    <div class="notice danger" role="alert" tabIndex={-1} ref={element} data-testid="error-summary">
      <p>{title}</p>
      <ul class="error-list">
        {errors.map(({ name, label, text }) => (
          <li key={name}>
            <button type="button" class="button link" onClick={() => focusField(name)}>
              {label}
            </button>
            <span>{text}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

export function focusField(name: string): void {
  const quoted = CSS.escape(name);
  const field = document.querySelector<HTMLElement>(`[data-field="${quoted}"], [data-testid="${quoted}"]`);
  field?.focus();
}
