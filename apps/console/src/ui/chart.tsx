import { Box, Group, Table, Text, UnstyledButton } from '@mantine/core';
import { type ReactNode, useId, useState } from 'react';

/**
 * Bars over time, drawn without a library. What is drawn is there as a table too: a picture is for those who see it. Heights
 * are given as parts of ten thousand, so that no amount is ever a float.
 */
export interface Bar {
  /** Where it stands on the axis. */
  readonly name: string;
  /** Parts of the height of the chart, from the bottom, each 0 to 10 000. */
  readonly parts: readonly { readonly size: number; readonly tone: string; readonly name: string }[];
  /** What it says in words: in the tooltip and in the table. */
  readonly values: readonly string[];
}

const WHOLE = 10_000;
const WIDTH = 640;
const HEIGHT = 160;
const FOOT = 18;
const MOST_NAMES = 8;

/** The share of the largest that each amount is, in parts of ten thousand. Amounts are decimal strings. */
export function sharesOf(amounts: readonly string[]): number[] {
  const decimals = Math.max(0, ...amounts.map((amount) => amount.split('.')[1]?.length ?? 0));
  const units = amounts.map((amount) => {
    const [whole = '0', fraction = ''] = amount.split('.');
    return BigInt(whole + fraction.padEnd(decimals, '0'));
  });
  const largest = units.reduce((most, one) => (one > most ? one : most), 0n);
  return units.map((one) => (largest === 0n ? 0 : Number((one * BigInt(WHOLE)) / largest)));
}

export function BarChart({
  title,
  columns,
  bars,
  legend,
  testId,
}: {
  readonly title: string;
  /** Titles of the values. */
  readonly columns: readonly string[];
  readonly bars: readonly Bar[];
  readonly legend?: ReactNode;
  readonly testId: string;
}) {
  const [at, setAt] = useState<number | null>(null);
  const [asTable, setAsTable] = useState(false);
  const tableId = useId();
  const shown = at === null ? undefined : bars[at];
  return (
    <Box data-testid={testId}>
      <Group justify="space-between" mb={4}>
        <Text fw={600} component="h2" size="sm">
          {title}
        </Text>
        <Group gap="md">
          {legend}
          <UnstyledButton
            fz="xs"
            c="dimmed"
            td="underline"
            aria-expanded={asTable}
            aria-controls={tableId}
            onClick={() => setAsTable(!asTable)}
            data-testid={`${testId}-table`}
          >
            {asTable ? 'Show as chart' : 'Show as table'}
          </UnstyledButton>
        </Group>
      </Group>
      <div id={tableId}>
        {asTable ? (
          <BarTable title={title} columns={columns} bars={bars} />
        ) : (
          <Box pos="relative" onMouseLeave={() => setAt(null)}>
            <Bars title={title} bars={bars} at={at} setAt={setAt} />
            {shown === undefined || at === null ? null : (
              <Box
                pos="absolute"
                top={0}
                px="xs"
                py={4}
                bg="var(--mantine-color-body)"
                bd="1px solid var(--mantine-color-default-border)"
                fz="xs"
                style={{
                  borderRadius: 6,
                  pointerEvents: 'none',
                  ...(at < bars.length / 2
                    ? { left: `${((at + 1) / bars.length) * 100}%` }
                    : { right: `${(1 - at / bars.length) * 100}%` }),
                }}
                data-testid={`${testId}-tooltip`}
              >
                <Text size="xs" fw={600}>
                  {shown.name}
                </Text>
                {shown.values.map((value, index) => (
                  <div key={columns[index]}>
                    {columns[index]}: {value}
                  </div>
                ))}
              </Box>
            )}
          </Box>
        )}
      </div>
    </Box>
  );
}

function Bars({
  title,
  bars,
  at,
  setAt,
}: {
  readonly title: string;
  readonly bars: readonly Bar[];
  readonly at: number | null;
  readonly setAt: (at: number | null) => void;
}) {
  const step = WIDTH / Math.max(1, bars.length);
  const gap = Math.min(6, step * 0.25);
  const every = Math.ceil(bars.length / MOST_NAMES);
  const height = HEIGHT - FOOT;
  const spoken = `${title}: ${bars.length} bars. The same figures are in a table.`;
  return (
    <svg
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      width="100%"
      role="img"
      aria-label={spoken}
      style={{ display: 'block' }}
    >
      <line x1={0} x2={WIDTH} y1={height} y2={height} stroke="var(--mantine-color-default-border)" />
      {bars.map(({ name, parts }, index) => {
        let top = height;
        return (
          // biome-ignore lint/a11y/noStaticElementInteractions: what the pointer shows is in the table too
          <g key={name} onMouseEnter={() => setAt(index)}>
            <rect
              x={index * step}
              y={0}
              width={step}
              height={height}
              fill={at === index ? 'var(--mantine-color-default-hover)' : 'transparent'}
            />
            {parts.map((part) => {
              const size = (part.size / WHOLE) * (height - 8);
              top -= size;
              return (
                <rect
                  key={part.name}
                  x={index * step + gap / 2}
                  y={top}
                  width={Math.max(1, step - gap)}
                  height={size}
                  fill={part.tone}
                />
              );
            })}
            {index % every === 0 ? (
              <text
                x={index * step + gap / 2}
                y={HEIGHT - 4}
                fontSize={11}
                fill="var(--mantine-color-dimmed)"
                aria-hidden
              >
                {name}
              </text>
            ) : null}
          </g>
        );
      })}
    </svg>
  );
}

function BarTable({
  title,
  columns,
  bars,
}: {
  readonly title: string;
  readonly columns: readonly string[];
  readonly bars: readonly Bar[];
}) {
  return (
    <Box mah={260} style={{ overflow: 'auto' }} tabIndex={0} role="region" aria-label={title}>
      <Table fz="xs" verticalSpacing={2}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Period</Table.Th>
            {columns.map((column) => (
              <Table.Th key={column} ta="end" scope="col">
                {column}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {bars.map(({ name, values }) => (
            <Table.Tr key={name}>
              <Table.Th scope="row">{name}</Table.Th>
              {values.map((value, index) => (
                <Table.Td key={columns[index]} ta="end">
                  {value}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Box>
  );
}
