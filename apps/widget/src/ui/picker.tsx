import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { t } from '../i18n/i18n.ts';
import { describedBy, Explanations } from './kit.tsx';
import { beginSearch, type Found, matching, type PickerOption } from './picker-filter.ts';

export type { PickerOption };

type PickerProps = {
  readonly label: string;
  readonly value: PickerOption | null;
  readonly onChange: (option: PickerOption | null) => void;
  /** All of them; filtered here. */
  readonly options?: readonly PickerOption[];
  /** Or a search on the server, for lists that are too long to fetch. Called with '' when the list opens. */
  readonly search?: (text: string, signal: AbortSignal) => Promise<readonly PickerOption[]>;
  readonly placeholder?: string;
  readonly hint?: string | undefined;
  readonly error?: string | undefined;
  readonly testId?: string;
  readonly disabled?: boolean;
};

const NONE: readonly PickerOption[] = [];

/** What the text finds: at once in a list, after a pause from a search; a search that was overtaken is ended. */
function useMatches({ options, search }: PickerProps, text: string, isOpen: boolean): Found {
  const [found, setFound] = useState<Found>({ options: NONE, state: 'searching' });
  const searchNow = useRef(search);
  searchNow.current = search;
  useEffect(() => {
    const ask = searchNow.current;
    if (!isOpen || ask === undefined) return;
    setFound((before) => ({ ...before, state: 'searching' }));
    return beginSearch(ask, text, setFound);
  }, [text, isOpen]);
  if (options === undefined) return found;
  return { options: matching(options, text), state: 'ready' };
}

/** One of a list that may be long: typed to narrow it down, chosen by pointer or keyboard (WAI-ARIA combobox). */
export function Picker(props: PickerProps) {
  const { label, value, onChange, placeholder, hint, error, testId, disabled = false } = props;
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  /** Null: nothing typed since the list opened, so all are shown and the field holds what is chosen. */
  const [typed, setTyped] = useState<string | null>(null);
  const [active, setActive] = useState(-1);
  const list = useRef<HTMLDivElement>(null);
  const { options, state } = useMatches(props, typed ?? '', isOpen);
  const optionId = (index: number) => `${id}-option-${index}`;

  useEffect(() => {
    list.current?.children[active]?.scrollIntoView({ block: 'nearest' });
  }, [active]);

  const close = () => {
    setOpen(false);
    setTyped(null);
    setActive(-1);
  };
  const choose = (option: PickerOption) => {
    onChange(option);
    close();
  };
  const leave = () => {
    // An emptied field is a choice taken back; half a word is not a choice.
    if (typed === '' && value !== null) onChange(null);
    close();
  };
  const move = (to: number) => {
    setOpen(true);
    setActive(options.length === 0 ? -1 : (to + options.length) % options.length);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') move(active + 1);
    else if (event.key === 'ArrowUp') move(active <= 0 ? options.length - 1 : active - 1);
    else if (!isOpen) return;
    else if (event.key === 'Escape') close();
    else if (event.key === 'Enter') {
      const option = options[active] ?? (options.length === 1 ? options[0] : undefined);
      if (option !== undefined) choose(option);
    } else return;
    event.preventDefault();
  };
  const described = describedBy(id, hint, error);
  const said = !isOpen
    ? ''
    : state === 'searching'
      ? t('buy.picker.searching')
      : state === 'failed'
        ? t('buy.picker.failed')
        : options.length === 0
          ? t('buy.picker.none')
          : t('buy.picker.found', { count: options.length });
  return (
    <div class="field picker">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="text"
        role="combobox"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        aria-autocomplete="list"
        aria-expanded={isOpen}
        aria-controls={`${id}-list`}
        aria-invalid={error !== undefined}
        {...(isOpen && active >= 0 ? { 'aria-activedescendant': optionId(active) } : {})}
        {...(described === '' ? {} : { 'aria-describedby': described })}
        data-testid={testId}
        data-value={value?.value ?? ''}
        disabled={disabled}
        placeholder={placeholder}
        value={typed ?? value?.label ?? ''}
        onClick={() => setOpen(true)}
        onFocus={(event) => event.currentTarget.select()}
        onInput={(event) => {
          setTyped(event.currentTarget.value);
          setOpen(true);
          setActive(-1);
        }}
        onKeyDown={onKeyDown}
        onBlur={leave}
      />
      <div
        id={`${id}-list`}
        role="listbox"
        aria-label={label}
        class="picker-list"
        ref={list}
        hidden={!isOpen || options.length === 0}
      >
        {isOpen
          ? options.map((option, index) => (
              <div
                key={option.value}
                id={optionId(index)}
                role="option"
                tabIndex={-1}
                aria-selected={option.value === value?.value}
                class={index === active ? 'active' : ''}
                data-value={option.value}
                // The field keeps the focus: a press must not blur it before the click arrives.
                onMouseDown={(event) => event.preventDefault()}
                onClick={() => choose(option)}
                onKeyDown={onKeyDown}
              >
                <span>{option.label}</span>
                {option.hint === undefined ? null : <span class="hint">{option.hint}</span>}
              </div>
            ))
          : null}
      </div>
      <p
        class={isOpen && (state !== 'ready' || options.length === 0) ? 'hint' : 'visually-hidden'}
        role="status"
      >
        {said}
      </p>
      <Explanations id={id} hint={hint} error={error} />
    </div>
  );
}
