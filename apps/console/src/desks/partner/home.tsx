import type { Statistics } from '@causeway/sdk';
import { Anchor, Badge, Box, Button, Card, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { api } from '../../api/client.ts';
import { serviceNow } from '../../api/service-time.ts';
import { BarChart, sharesOf } from '../../ui/chart.tsx';
import { dayOf, ZONE } from '../../ui/days.ts';
import { Link, useGo, usePath, useSearch } from '../../ui/navigation.tsx';
import { Loaded, Loading, PageHead } from '../../ui/states.tsx';
import { formatAmount, Status, Time } from '../../ui/values.tsx';
import { ACTION_WORDS } from './order-words.ts';

const FirstCall = lazy(() => import('./first-call.tsx'));

const PERIODS = [
  { name: '7d', label: '7 days', days: 7, interval: 'day' },
  { name: '30d', label: '30 days', days: 30, interval: 'day' },
  { name: '90d', label: '90 days', days: 90, interval: 'week' },
  { name: '12m', label: '12 months', days: 365, interval: 'month' },
] as const;
const REFRESH_MS = 30_000;

export default function PartnerHome() {
  const search = useSearch();
  const path = usePath();
  const go = useGo();
  const period = PERIODS.find(({ name }) => name === search.period) ?? PERIODS[1];
  const query = useQuery({
    queryKey: ['statistics', period.name],
    queryFn: ({ signal }) =>
      api.statistics.get(
        { from: dayOf(serviceNow(), period.days - 1), interval: period.interval, time_zone: ZONE },
        { signal },
      ),
    refetchInterval: REFRESH_MS,
  });
  return (
    <>
      <PageHead title="Home" about="How your orders go, and what waits for you.">
        <Group gap={0} role="group" aria-label="Period">
          {PERIODS.map(({ name, label }) => (
            <Button
              key={name}
              size="xs"
              variant={name === period.name ? 'filled' : 'default'}
              aria-pressed={name === period.name}
              onClick={() => go(path, { search: { ...search, period: name }, replace: true })}
              data-testid={`period-${name}`}
            >
              {label}
            </Button>
          ))}
        </Group>
      </PageHead>
      <Loaded query={query}>
        {(statistics) => (
          <Stack>
            {statistics.orders === 0 && statistics.open_actions.total === 0 ? (
              <Suspense fallback={<Loading />}>
                <FirstCall />
              </Suspense>
            ) : null}
            <Figures statistics={statistics} />
            <Charts statistics={statistics} />
            <SimpleGrid cols={{ base: 1, lg: 3 }}>
              <OpenActions statistics={statistics} />
              <ByStatus statistics={statistics} />
              <Webhooks statistics={statistics} />
            </SimpleGrid>
          </Stack>
        )}
      </Loaded>
    </>
  );
}

interface Part {
  readonly statistics: Statistics;
}

/** 3 725 seconds are 1 h 2 min. */
export function formatDuration(seconds: number | null): string {
  if (seconds === null) return '–';
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days ${hours % 24} h`;
}

/** `0.9750` as `97.50 %`: the point is moved, nothing is computed. */
export function formatShare(share: string | null): string {
  if (share === null) return '–';
  const digits = share.replace('.', '').replace(/^0+(?=\d{3})/, '');
  return `${digits.slice(0, -2)}.${digits.slice(-2)} %`;
}

function Figures({ statistics }: Part) {
  const { orders, settled, open, stopped, disputed, success_rate, time_to_complete, volumes } = statistics;
  const fiat = volumes.filter(({ kind }) => kind === 'fiat');
  return (
    <SimpleGrid cols={{ base: 2, lg: 4 }}>
      <Figure
        title="Orders"
        value={String(orders)}
        note={`${settled} settled, ${open} under way`}
        id="orders"
      />
      <Figure
        title="Success rate"
        value={formatShare(success_rate)}
        note={`${stopped} stopped, ${disputed} in dispute`}
        id="success-rate"
      />
      <Figure
        title="Time to complete"
        value={formatDuration(time_to_complete.median_seconds)}
        note={`nine of ten within ${formatDuration(time_to_complete.p90_seconds)}`}
        id="time-to-complete"
      />
      <Figure
        title="Volume"
        value={fiat.length === 0 ? '–' : fiat.map(amountOf).join(' · ')}
        note={volumes
          .filter(({ kind }) => kind === 'crypto')
          .map(amountOf)
          .join(' · ')}
        id="volume"
      />
    </SimpleGrid>
  );
}

const amountOf = ({ amount, currency }: { readonly amount: string; readonly currency: string }) =>
  `${formatAmount(amount)} ${currency}`;

function Figure({
  title,
  value,
  note,
  id,
}: {
  readonly title: string;
  readonly value: string;
  readonly note: string;
  readonly id: string;
}) {
  return (
    <Card withBorder padding="md" data-testid={`figure-${id}`}>
      <Text size="xs" c="dimmed">
        {title}
      </Text>
      <Text size="xl" fw={700} style={{ fontVariantNumeric: 'tabular-nums', overflowWrap: 'anywhere' }}>
        {value}
      </Text>
      <Text size="xs" c="dimmed">
        {note}
      </Text>
    </Card>
  );
}

const SETTLED_TONE = 'var(--mantine-color-teal-7)';
const OTHER_TONE = 'var(--mantine-color-gray-5)';
const VOLUME_TONE = 'var(--mantine-color-indigo-6)';
const DAY_NAME = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });

const MONTH_NAME = new Intl.DateTimeFormat(undefined, { month: 'short', year: 'numeric', timeZone: 'UTC' });

function Charts({ statistics: { series, volumes, interval } }: Part) {
  const currencies = volumes.map(({ currency }) => currency);
  const [chosen, choose] = useState<string | null>(null);
  const currency = chosen !== null && currencies.includes(chosen) ? chosen : currencies[0];
  // A year has a month of the same name at both of its ends.
  const name = interval === 'month' ? MONTH_NAME : DAY_NAME;
  const names = series.map(({ start }) => name.format(new Date(`${start}T00:00:00Z`)));
  const most = Math.max(1, ...series.map(({ orders }) => orders));
  const amounts = series.map(
    (one) => one.volumes.find((volume) => volume.currency === currency)?.amount ?? '0',
  );
  const shares = sharesOf(amounts);
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }}>
      <Card withBorder>
        <BarChart
          testId="chart-orders"
          title="Orders"
          columns={['Created', 'Settled']}
          legend={<Legend />}
          bars={series.map(({ orders, settled }, index) => ({
            name: names[index] ?? '',
            parts: [
              { name: 'settled', size: (settled / most) * 10_000, tone: SETTLED_TONE },
              { name: 'other', size: ((orders - settled) / most) * 10_000, tone: OTHER_TONE },
            ],
            values: [String(orders), String(settled)],
          }))}
        />
      </Card>
      <Card withBorder>
        <BarChart
          testId="chart-volume"
          title={currency === undefined ? 'Volume' : `Volume in ${currency}`}
          columns={['Settled']}
          legend={
            <Group gap={4}>
              {currencies.length < 2
                ? null
                : currencies.map((one) => (
                    <Button
                      key={one}
                      size="compact-xs"
                      variant={one === currency ? 'light' : 'subtle'}
                      aria-pressed={one === currency}
                      onClick={() => choose(one)}
                      data-testid={`volume-${one}`}
                    >
                      {one}
                    </Button>
                  ))}
            </Group>
          }
          bars={series.map((_, index) => ({
            name: names[index] ?? '',
            parts: [{ name: 'volume', size: shares[index] ?? 0, tone: VOLUME_TONE }],
            values: [`${formatAmount(amounts[index] ?? '0')} ${currency ?? ''}`],
          }))}
        />
      </Card>
    </SimpleGrid>
  );
}

function Legend() {
  return (
    <Group gap="xs">
      {[
        ['Settled', SETTLED_TONE],
        ['Other', OTHER_TONE],
      ].map(([name, tone]) => (
        <Group gap={4} key={name}>
          <Box w={10} h={10} bg={tone} style={{ borderRadius: 2 }} />
          <Text size="xs">{name}</Text>
        </Group>
      ))}
    </Group>
  );
}

function OpenActions({ statistics: { open_actions } }: Part) {
  return (
    <Card withBorder data-testid="open-actions">
      <Group justify="space-between" mb="xs">
        <Text fw={600} component="h2" size="sm">
          Waiting for you
        </Text>
        <Badge variant="light" color={open_actions.total === 0 ? 'gray' : 'orange'}>
          {open_actions.total}
        </Badge>
      </Group>
      {open_actions.total === 0 ? (
        <Text size="sm" c="dimmed">
          Nothing: every order is with somebody else.
        </Text>
      ) : (
        <Stack gap={6} component="ul" p={0} m={0} style={{ listStyle: 'none' }}>
          {open_actions.orders.slice(0, 8).map(({ order_id, next_action, expires_at, reference_id }) => (
            <li key={order_id}>
              <Anchor component={Link} to={`/partner/orders/${order_id}`} size="sm" data-order={order_id}>
                {ACTION_WORDS[next_action] ?? next_action}
                {reference_id === null ? '' : `, ${reference_id}`}
              </Anchor>
              {expires_at === null ? null : (
                <Text size="xs" c="dimmed">
                  until <Time at={expires_at} />
                </Text>
              )}
            </li>
          ))}
        </Stack>
      )}
    </Card>
  );
}

function ByStatus({ statistics: { statuses } }: Part) {
  return (
    <Card withBorder data-testid="by-status">
      <Text fw={600} component="h2" size="sm" mb="xs">
        Orders by status
      </Text>
      {statuses.length === 0 ? (
        <Text size="sm" c="dimmed">
          No orders in this period.
        </Text>
      ) : (
        <Stack gap={6} component="ul" p={0} m={0} style={{ listStyle: 'none' }}>
          {statuses.map(({ status, orders }) => (
            <li key={status}>
              <Group justify="space-between" wrap="nowrap">
                <Anchor
                  component={Link}
                  to={`/partner/orders?status=${status}`}
                  aria-label={`Orders in ${status}`}
                >
                  <Status value={status} />
                </Anchor>
                <Text size="sm">{orders}</Text>
              </Group>
            </li>
          ))}
        </Stack>
      )}
    </Card>
  );
}

function Webhooks({ statistics: { webhooks } }: Part) {
  const { deliveries, delivered, failed, waiting, oldest_waiting_at: oldest } = webhooks;
  const [word, color] =
    failed > 0 ? ['failing', 'red'] : waiting > 0 ? ['waiting', 'orange'] : ['healthy', 'teal'];
  return (
    <Card withBorder data-testid="webhook-health">
      <Group justify="space-between" mb="xs">
        <Text fw={600} component="h2" size="sm">
          Webhooks
        </Text>
        <Badge variant="light" color={deliveries === 0 && waiting === 0 ? 'gray' : color} tt="none">
          {deliveries === 0 && waiting === 0 ? 'nothing sent' : word}
        </Badge>
      </Group>
      <Text size="sm">
        {delivered} of {deliveries} delivered, {failed} given up.
      </Text>
      <Text size="sm">
        {waiting === 0 ? (
          'None waits.'
        ) : (
          <>
            {waiting} waiting, the oldest since <Time at={oldest} />.
          </>
        )}
      </Text>
      <Anchor component={Link} to="/partner/webhooks" size="sm">
        Endpoints and deliveries
      </Anchor>
    </Card>
  );
}
