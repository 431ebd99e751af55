import { ActionIcon, Anchor, Badge, Code, CopyButton, Group, Text } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { serviceNow } from '../api/service-time.ts';
import { formatAmount } from './amount.ts';
import { shortId } from './ids.ts';
import { Link } from './navigation.tsx';
import { colorOf } from './status-color.ts';

export { formatAmount };

export function Money({
  amount,
  currency,
}: {
  readonly amount: string | null | undefined;
  readonly currency?: string | null;
}) {
  if (amount === null || amount === undefined)
    return (
      <Text span c="dimmed">
        –
      </Text>
    );
  return (
    <Text span inherit style={{ fontVariantNumeric: 'tabular-nums', whiteSpace: 'nowrap' }}>
      {formatAmount(amount)}
      {currency ? ` ${currency}` : ''}
    </Text>
  );
}

const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

export function formatAge(at: string, now = serviceNow()): string {
  const seconds = Math.round((Date.parse(at) - now) / 1_000);
  for (const [unit, length] of UNITS) {
    if (Math.abs(seconds) >= length) return RELATIVE.format(Math.round(seconds / length), unit);
  }
  return Math.abs(seconds) < 5 ? 'now' : RELATIVE.format(seconds, 'second');
}

/** In the viewer’s zone; UTC on hover and for screen readers’ title. */
export function Time({
  at,
  age = false,
}: {
  readonly at: string | null | undefined;
  readonly age?: boolean;
}) {
  if (!at)
    return (
      <Text span c="dimmed">
        –
      </Text>
    );
  const utc = `${at.slice(0, 19).replace('T', ' ')} UTC`;
  return (
    // As a title and not as a tooltip: what draws those would be a sixth of the first load.
    <time
      dateTime={at}
      title={age ? `${MOMENT.format(new Date(at))} · ${utc}` : utc}
      style={{ whiteSpace: 'nowrap' }}
    >
      {age ? formatAge(at) : MOMENT.format(new Date(at))}
    </time>
  );
}

export function Copy({ value, label }: { readonly value: string; readonly label: string }) {
  return (
    <CopyButton value={value}>
      {({ copied, copy }) => (
        <ActionIcon
          variant="subtle"
          color={copied ? 'teal' : 'gray'}
          size="sm"
          onClick={copy}
          title={copied ? 'Copied' : label}
          aria-label={label}
        >
          {copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
        </ActionIcon>
      )}
    </CopyButton>
  );
}

/** An id or a hash: shortened, whole on hover, to copy, and a link where it leads somewhere. */
export function Id({
  value,
  to,
  whole = false,
  name = 'id',
}: {
  readonly value: string | null | undefined;
  readonly to?: string;
  readonly whole?: boolean;
  readonly name?: string;
}) {
  if (!value)
    return (
      <Text span c="dimmed">
        –
      </Text>
    );
  const shown = whole ? value : shortId(value);
  const code = (
    <Code title={value} style={whole ? { overflowWrap: 'anywhere' } : { whiteSpace: 'nowrap' }}>
      {shown}
    </Code>
  );
  return (
    <Group gap={2} wrap="nowrap" component="span" display="inline-flex">
      {to === undefined ? (
        code
      ) : (
        <Anchor component={Link} to={to}>
          {code}
        </Anchor>
      )}
      <Copy value={value} label={`Copy ${name}`} />
    </Group>
  );
}

export function Status({ value }: { readonly value: string | null | undefined }) {
  if (!value)
    return (
      <Text span c="dimmed">
        –
      </Text>
    );
  return (
    <Badge
      color={colorOf(value)}
      variant="light"
      tt="none"
      // In one line, but beside a term, where a long one would be wider than a phone.
      miw="var(--status-min-width, max-content)"
      h="auto"
      mih={20}
      data-status={value}
      style={{ overflow: 'visible' }}
      styles={{ label: { whiteSpace: 'normal', overflow: 'visible' } }}
    >
      {value.replaceAll('_', ' ')}
    </Badge>
  );
}

/** A term and what it is, in a list of facts. */
export function Fact({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <Group justify="space-between" wrap="nowrap" gap="md" py={4} component="div">
      <Text size="sm" c="dimmed" component="dt">
        {label}
      </Text>
      <Text
        size="sm"
        component="dd"
        m={0}
        ta="end"
        style={{ overflowWrap: 'anywhere', '--status-min-width': 0 }}
      >
        {children}
      </Text>
    </Group>
  );
}
