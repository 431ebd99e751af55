import { THEME_VARIABLES, type ThemeVariable } from '@causeway/protocol/widget';
import type { PartnerWidgetSessionInput } from '@causeway/sdk';
import {
  Box,
  Button,
  Group,
  SegmentedControl,
  Select,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { api } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { CodeBlock } from '../../ui/code.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Problem } from '../../ui/states.tsx';

/** What the element of the widget is given. Texts as they stand in its attributes; empty is left out. */
interface Look {
  readonly side: string;
  readonly fiatCurrency: string;
  readonly cryptoCurrency: string;
  readonly amount: string;
  readonly locale: string;
  readonly mode: string;
  readonly variables: Readonly<Partial<Record<ThemeVariable, string>>>;
}
const START: Look = {
  side: 'onramp',
  fiatCurrency: 'EUR',
  cryptoCurrency: 'USDC',
  amount: '100',
  locale: 'en',
  mode: 'auto',
  variables: {},
};
const LOCALES = [
  ['en', 'English'],
  ['fr', 'Français'],
  ['es', 'Español'],
  ['pt', 'Português'],
  ['ar', 'العربية'],
  ['hi', 'हिन्दी'],
  ['zh', '中文'],
  ['sw', 'Kiswahili'],
] as const;
const NOT_COLOURS: readonly ThemeVariable[] = ['radius', 'font'];
const KEY_MEMORY = 'causeway.widget-key';
const WIDGET_KEY = /^cw_widget_[0-9A-Za-z]+$/;

export function WidgetLook({ baseUrl }: { readonly baseUrl: string }) {
  const [look, setLook] = useState(START);
  const [key, setKey] = useState(() => localStorage.getItem(KEY_MEMORY) ?? '');
  const isKey = WIDGET_KEY.test(key.trim());
  const attributes = attributesOf(look);
  return (
    <Panel title="How it looks" testId="look">
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        <Stack gap="sm">
          <TextInput
            label="Widget key"
            description="Public: it stands in your page. A key is shown once, on the page of keys; kept in this browser only."
            placeholder="cw_widget_…"
            value={key}
            error={key.trim() === '' || isKey ? undefined : 'A widget key begins with cw_widget_'}
            onChange={({ currentTarget: { value } }) => {
              setKey(value);
              if (WIDGET_KEY.test(value.trim())) localStorage.setItem(KEY_MEMORY, value.trim());
            }}
            data-testid="widget-key"
          />
          <LookForm look={look} onChange={setLook} />
          <EmbedCode baseUrl={baseUrl} widgetKey={isKey ? key.trim() : 'cw_widget_…'} look={look} />
        </Stack>
        <Preview look={look} attributes={attributes} widgetKey={isKey ? key.trim() : undefined} />
      </SimpleGrid>
    </Panel>
  );
}

function attributesOf(look: Look): readonly (readonly [string, string])[] {
  const theme = { mode: look.mode, variables: said(look.variables) };
  const plain = look.mode === 'auto' && Object.keys(theme.variables).length === 0;
  return (
    [
      ['side', look.side],
      ['fiat-currency', look.fiatCurrency],
      ['crypto-currency', look.cryptoCurrency],
      ['amount', look.amount],
      ['locale', look.locale],
      ['theme', plain ? '' : JSON.stringify(theme)],
    ] as const
  ).filter(([, value]) => value.trim() !== '');
}

const said = (variables: Look['variables']) =>
  Object.fromEntries(Object.entries(variables).filter(([, value]) => value.trim() !== ''));

function LookForm({ look, onChange }: { readonly look: Look; readonly onChange: (look: Look) => void }) {
  const text = (name: 'fiatCurrency' | 'cryptoCurrency' | 'amount', label: string) => (
    <TextInput
      label={label}
      value={look[name]}
      onChange={({ currentTarget: { value } }) => onChange({ ...look, [name]: value })}
      data-testid={`look-${name}`}
    />
  );
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <Select
          label="Side"
          data={[
            { value: 'onramp', label: 'Buy' },
            { value: 'offramp', label: 'Sell' },
          ]}
          value={look.side}
          allowDeselect={false}
          onChange={(side) => onChange({ ...look, side: side ?? 'onramp' })}
          data-testid="look-side"
        />
        <Select
          label="Language"
          data={LOCALES.map(([value, label]) => ({ value, label }))}
          value={look.locale}
          allowDeselect={false}
          onChange={(locale) => onChange({ ...look, locale: locale ?? 'en' })}
          data-testid="look-locale"
        />
        {text('fiatCurrency', 'Fiat currency')}
        {text('cryptoCurrency', 'Crypto currency')}
        {text('amount', 'Amount')}
        <Select
          label="Light or dark"
          data={[
            { value: 'auto', label: 'As the customer’s device' },
            { value: 'light', label: 'Light' },
            { value: 'dark', label: 'Dark' },
          ]}
          value={look.mode}
          allowDeselect={false}
          onChange={(mode) => onChange({ ...look, mode: mode ?? 'auto' })}
          data-testid="look-mode"
        />
      </SimpleGrid>
      <SimpleGrid cols={{ base: 2, sm: 3 }}>
        {THEME_VARIABLES.map((name) => (
          <Variable
            key={name}
            name={name}
            value={look.variables[name] ?? ''}
            onChange={(value) => onChange({ ...look, variables: { ...look.variables, [name]: value } })}
          />
        ))}
      </SimpleGrid>
      <Text size="xs" c="dimmed">
        What is left empty looks as the widget does by itself. Keep text readable on its background: 4.5 to 1.
      </Text>
    </>
  );
}

const EXAMPLES: Readonly<Partial<Record<ThemeVariable, string>>> = {
  radius: '12px',
  font: 'Inter, sans-serif',
};

/** A colour to pick or to write; lengths and fonts are written. */
function Variable({
  name,
  value,
  onChange,
}: {
  readonly name: ThemeVariable;
  readonly value: string;
  readonly onChange: (value: string) => void;
}) {
  const isColour = !NOT_COLOURS.includes(name);
  return (
    <TextInput
      label={name}
      placeholder={EXAMPLES[name] ?? '#4f46e5'}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
      data-testid={`look-${name}`}
      {...(isColour
        ? {
            rightSection: (
              <input
                type="color"
                aria-label={`Pick ${name}`}
                value={/^#[0-9a-f]{6}$/i.test(value) ? value : '#888888'}
                onChange={({ currentTarget }) => onChange(currentTarget.value)}
                style={{ width: 22, height: 22, padding: 0, border: 0, background: 'none' }}
              />
            ),
          }
        : {})}
    />
  );
}

const WAYS = [
  { value: 'script', label: 'Script tag' },
  { value: 'npm', label: 'npm' },
  { value: 'react', label: 'React' },
];

function EmbedCode({
  baseUrl,
  widgetKey,
  look,
}: {
  readonly baseUrl: string;
  readonly widgetKey: string;
  readonly look: Look;
}) {
  const [way, setWay] = useState('script');
  return (
    <div data-testid="embed-code">
      <SegmentedControl
        size="xs"
        aria-label="How you embed it"
        data={WAYS}
        value={way}
        onChange={setWay}
        mb="xs"
      />
      <CodeBlock code={codeOf(way, baseUrl, widgetKey, look)} label="code to copy" />
    </div>
  );
}

function codeOf(way: string, baseUrl: string, widgetKey: string, look: Look): string {
  if (way === 'script') {
    const lines = [['widget-key', widgetKey] as const, ...attributesOf(look)].map(
      ([name, value]) => `  ${name}='${value.replaceAll('&', '&amp;').replaceAll("'", '&#39;')}'`,
    );
    return `<script src="${baseUrl}/widget/v1.js"></script>\n<causeway-ramp\n${lines.join('\n')}\n></causeway-ramp>`;
  }
  const options = {
    baseUrl,
    widgetKey,
    side: look.side,
    ...said({
      fiatCurrency: look.fiatCurrency,
      cryptoCurrency: look.cryptoCurrency,
      amount: look.amount,
    } as never),
    locale: look.locale,
    theme: { mode: look.mode, variables: said(look.variables) },
  };
  if (way === 'npm') {
    return `import { mount } from '@causeway/widget';\n\nmount(document.querySelector('#ramp'), ${JSON.stringify(options, null, 2)});`;
  }
  const props = Object.entries(options).map(([name, value]) =>
    typeof value === 'string' ? `  ${name}=${JSON.stringify(value)}` : `  ${name}={${JSON.stringify(value)}}`,
  );
  return `import { CausewayRamp } from '@causeway/widget/react';\n\n<CausewayRamp\n${props.join('\n')}\n/>;`;
}

let loader: Promise<void> | undefined;

/** The same file that partners’ pages load. */
function loadElement(): Promise<void> {
  loader ??= new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = '/widget/v1.js';
    script.onload = () => resolve();
    script.onerror = () => {
      loader = undefined;
      reject(
        new Error(
          'The widget cannot be loaded. Reload the page; in production the operator has to build it.',
        ),
      );
    };
    document.head.append(script);
  });
  return loader;
}

/** The widget itself: by the key, or by a session that is made for the preview. */
function Preview({
  look,
  attributes,
  widgetKey,
}: {
  readonly look: Look;
  readonly attributes: readonly (readonly [string, string])[];
  readonly widgetKey: string | undefined;
}) {
  const may = useMay();
  const session = useMutation({
    mutationFn: () =>
      api.widgetSessions.create({
        side: look.side,
        locked: false,
        ...(look.fiatCurrency === '' ? {} : { fiat_currency: look.fiatCurrency }),
        ...(look.cryptoCurrency === '' ? {} : { crypto_currency: look.cryptoCurrency }),
      } as PartnerWidgetSessionInput),
  });
  const made = session.data?.url;
  if (widgetKey !== undefined) return <Element name="widget-key" value={widgetKey} attributes={attributes} />;
  return (
    <Stack gap="sm">
      <Text size="sm">
        Give a widget key to see it, or show it by a session that is made for this preview. Side and
        currencies of a session are those it was made with.
      </Text>
      {may('createWidgetSession') ? (
        <Group>
          <Button
            size="xs"
            variant="default"
            loading={session.isPending}
            onClick={() => session.mutate()}
            data-testid="start-preview"
          >
            {made === undefined ? 'Show the preview' : 'Show it anew'}
          </Button>
        </Group>
      ) : null}
      {session.isError ? <Problem error={session.error} /> : null}
      {made === undefined ? null : (
        <Element key={made} name="session" value={ownAddress(made)} attributes={attributes} />
      )}
    </Stack>
  );
}

/** The page may frame its own origin only, by whatever name it was opened. */
function ownAddress(address: string): string {
  const { pathname, search, hash } = new URL(address);
  return location.origin + pathname + search + hash;
}

function Element({
  name,
  value,
  attributes,
}: {
  readonly name: 'widget-key' | 'session';
  readonly value: string;
  readonly attributes: readonly (readonly [string, string])[];
}) {
  const place = useRef<HTMLDivElement>(null);
  const [problem, setProblem] = useState<unknown>();
  useEffect(() => {
    const element = document.createElement('causeway-ramp');
    element.setAttribute('base-url', location.origin);
    element.setAttribute('full-screen-below', '0');
    element.setAttribute(name, value);
    place.current?.replaceChildren(element);
    loadElement().catch(setProblem);
    return () => element.remove();
  }, [name, value]);
  useEffect(() => {
    const element = place.current?.firstElementChild;
    if (!element) return;
    const names = attributes.map(([attribute]) => attribute);
    for (const old of ['fiat-currency', 'crypto-currency', 'amount', 'theme']) {
      if (!names.includes(old)) element.removeAttribute(old);
    }
    for (const [attribute, text] of attributes) element.setAttribute(attribute, text);
  });
  return (
    <Box data-testid="preview" mih={640}>
      {problem === undefined ? null : <Problem error={problem} />}
      <div ref={place} />
    </Box>
  );
}
