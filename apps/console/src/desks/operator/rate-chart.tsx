import { Box, Group, Text } from '@mantine/core';

interface Point {
  readonly at: string;
  readonly rate: string;
}

const WIDTH = 640;
const HEIGHT = 200;
const PAD = 8;

/**
 * A line over time. Only where a point is drawn is reckoned with in floats; every figure that is read is the text that came.
 */
export function RateChart({ points, label }: { readonly points: readonly Point[]; readonly label: string }) {
  const times = points.map(({ at }) => Date.parse(at));
  const values = points.map(({ rate }) => Number.parseFloat(rate));
  const [first = 0, last = 1] = [times[0], times.at(-1)];
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const x = (time: number) => PAD + ((time - first) / (last - first || 1)) * (WIDTH - 2 * PAD);
  const y = (value: number) => HEIGHT - PAD - ((value - low) / (high - low || 1)) * (HEIGHT - 2 * PAD);
  const path = times.map(
    (time, index) => `${index === 0 ? 'M' : 'L'}${x(time).toFixed(1)} ${y(values[index] ?? low).toFixed(1)}`,
  );
  const textAt = (value: number) => points[values.indexOf(value)]?.rate ?? '';
  return (
    <Box component="figure" m={0} data-testid="rate-chart">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        width="100%"
        role="img"
        aria-label={`${label}: from ${textAt(low)} to ${textAt(high)}`}
      >
        {[low, (low + high) / 2, high].map((value) => (
          <line
            key={value}
            x1={PAD}
            x2={WIDTH - PAD}
            y1={y(value)}
            y2={y(value)}
            stroke="var(--mantine-color-default-border)"
          />
        ))}
        <path d={path.join(' ')} fill="none" stroke="var(--mantine-primary-color-filled)" strokeWidth={2} />
      </svg>
      <Group justify="space-between" component="figcaption">
        <Text size="xs" c="dimmed">
          {new Date(first).toLocaleString()}
        </Text>
        <Text size="xs" c="dimmed">
          lowest {textAt(low)}, highest {textAt(high)}
        </Text>
        <Text size="xs" c="dimmed">
          {new Date(last).toLocaleString()}
        </Text>
      </Group>
    </Box>
  );
}
