import type { OrderDirection } from '@causeway/protocol/machines';
import { Box, Group, List, Text, UnstyledButton } from '@mantine/core';
import { useMemo, useState } from 'react';
import { Time } from '../ui/values.tsx';
import { words } from '../ui/words.ts';
import { layoutOf, NODE_HEIGHT, NODE_WIDTH, type Node } from './layout.ts';

interface Course {
  readonly status: string;
  readonly timeline: readonly { readonly status: string; readonly at: string }[];
}

/** The machine of the order: where it is, which way it took, and where it may stop from here. */
export function OrderMachine({
  direction,
  order,
}: {
  readonly direction: OrderDirection;
  readonly order: Course;
}) {
  const layout = useMemo(() => layoutOf(direction), [direction]);
  const [asList, setAsList] = useState(false);
  const path = pathOf(order);
  const taken = new Set(path.slice(1).map((status, index) => `${path[index]} ${status}`));
  const byStatus = new Map<string, Node>(layout.nodes.map((node) => [node.status, node]));
  const isStop = (status: string) => {
    const outcome = byStatus.get(status)?.outcome;
    return outcome === 'stopped' || outcome === 'disputed';
  };
  // Nearly everything may stop: those ways are drawn from where the order is, and where they were taken.
  const edges = layout.edges.filter(
    ({ from, to }) => taken.has(`${from} ${to}`) || from === order.status || (!isStop(to) && !isStop(from)),
  );
  const spoken = `The order is in ${words(order.status)}. It went through ${path.map(words).join(', ')}.`;
  return (
    <Box data-testid="machine" data-current={order.status}>
      <Group justify="flex-end">
        <UnstyledButton
          fz="xs"
          c="dimmed"
          td="underline"
          aria-expanded={asList}
          onClick={() => setAsList(!asList)}
          data-testid="machine-list"
        >
          {asList ? 'Show as a drawing' : 'Show as a list'}
        </UnstyledButton>
      </Group>
      {asList ? (
        <StatusList order={order} nodes={layout.nodes} path={path} />
      ) : (
        <svg viewBox={`0 0 ${layout.width} ${layout.height}`} width="100%" role="img" aria-label={spoken}>
          <defs>
            {(['taken', 'open'] as const).map((kind) => (
              <marker
                key={kind}
                id={`arrow-${kind}`}
                viewBox="0 0 8 8"
                refX={7}
                refY={4}
                markerWidth={6}
                markerHeight={6}
                orient="auto"
              >
                <path d="M0,0 L8,4 L0,8 z" fill={kind === 'taken' ? TAKEN : OPEN} />
              </marker>
            ))}
          </defs>
          {edges.map(({ from, to }) => {
            const [a, b] = [byStatus.get(from), byStatus.get(to)];
            if (a === undefined || b === undefined) return null;
            const isTaken = taken.has(`${from} ${to}`);
            return (
              <path
                key={`${from} ${to}`}
                d={lineOf(a, b)}
                fill="none"
                stroke={isTaken ? TAKEN : OPEN}
                strokeWidth={isTaken ? 2.5 : 1}
                strokeDasharray={isStop(to) && !isTaken ? '4 4' : undefined}
                markerEnd={`url(#arrow-${isTaken ? 'taken' : 'open'})`}
                data-edge={`${from} ${to}`}
                data-taken={isTaken}
              />
            );
          })}
          {layout.nodes.map((node) => (
            <StatusBox
              key={node.status}
              node={node}
              isCurrent={node.status === order.status}
              isPassed={path.includes(node.status)}
            />
          ))}
        </svg>
      )}
    </Box>
  );
}

const TAKEN = 'var(--mantine-color-teal-7)';
const OPEN = 'light-dark(var(--mantine-color-gray-5), var(--mantine-color-dark-2))';

/** The statuses it went through, the present one last. */
function pathOf({ timeline, status }: Course): string[] {
  const passed = timeline.map((entry) => entry.status);
  return passed.at(-1) === status ? passed : [...passed, status];
}

function StatusBox({
  node: { status, x, y, outcome, says },
  isCurrent,
  isPassed,
}: {
  readonly node: Node;
  readonly isCurrent: boolean;
  readonly isPassed: boolean;
}) {
  const tone = outcome === 'stopped' ? 'red' : outcome === 'disputed' ? 'orange' : 'teal';
  const fill = isCurrent
    ? `var(--mantine-color-${tone}-9)`
    : isPassed
      ? `light-dark(var(--mantine-color-${tone}-1), color-mix(in srgb, var(--mantine-color-${tone}-9) 40%, transparent))`
      : 'var(--mantine-color-body)';
  const lines = linesOf(words(status));
  return (
    <g
      data-node={status}
      data-lit={isCurrent}
      data-passed={isPassed}
      opacity={isCurrent || isPassed ? 1 : 0.75}
    >
      <title>{says}</title>
      <rect
        x={x}
        y={y}
        width={NODE_WIDTH}
        height={NODE_HEIGHT}
        rx={8}
        fill={fill}
        stroke={isCurrent || isPassed ? `var(--mantine-color-${tone}-7)` : OPEN}
        strokeWidth={isCurrent ? 2.5 : 1}
      />
      {lines.map((line, index) => (
        <text
          key={line}
          x={x + NODE_WIDTH / 2}
          y={y + NODE_HEIGHT / 2 + 4 + (index - (lines.length - 1) / 2) * 15}
          textAnchor="middle"
          fontSize={12}
          fontWeight={isCurrent ? 700 : 400}
          fill={isCurrent ? 'white' : 'var(--mantine-color-text)'}
        >
          {line}
        </text>
      ))}
    </g>
  );
}

const LONGEST_LINE = 24;

function linesOf(text: string): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last !== '' && last.length + word.length >= LONGEST_LINE) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines;
}

/** Neighbours are joined straight; others by a bow through the gap between the lines. */
function lineOf(a: Node, b: Node): string {
  const middle = (node: Node) => node.y + NODE_HEIGHT / 2;
  if (a.y === b.y && b.x > a.x && b.x - a.x < NODE_WIDTH * 2) {
    return `M${a.x + NODE_WIDTH},${middle(a)} L${b.x},${middle(b)}`;
  }
  if (a.y === b.y) {
    const low = a.y + NODE_HEIGHT;
    return `M${a.x + NODE_WIDTH / 2},${low} C${a.x + NODE_WIDTH / 2},${low + 34} ${b.x + NODE_WIDTH / 2},${low + 34} ${b.x + NODE_WIDTH / 2},${low}`;
  }
  const [fromY, toY, bend] = b.y > a.y ? [a.y + NODE_HEIGHT, b.y, 30] : [a.y, b.y + NODE_HEIGHT, -30];
  const [fromX, toX] = [a.x + NODE_WIDTH / 2, b.x + NODE_WIDTH / 2];
  return `M${fromX},${fromY} C${fromX},${fromY + bend} ${toX},${toY - bend} ${toX},${toY}`;
}

function StatusList({
  order,
  nodes,
  path,
}: {
  readonly order: Course;
  readonly nodes: readonly Node[];
  readonly path: readonly string[];
}) {
  return (
    <List type="ordered" size="sm" spacing={4}>
      {nodes.map(({ status, says }) => {
        const reached = order.timeline.filter((entry) => entry.status === status).at(-1);
        const isCurrent = status === order.status;
        return (
          <List.Item key={status} aria-current={isCurrent ? 'step' : undefined}>
            <Text span fw={isCurrent ? 700 : 400} size="sm">
              {words(status)}
            </Text>{' '}
            <Text span size="sm" c="dimmed">
              {says} {isCurrent ? 'The order is here.' : path.includes(status) ? 'Passed.' : ''}{' '}
              {reached === undefined ? null : <Time at={reached.at} />}
            </Text>
          </List.Item>
        );
      })}
    </List>
  );
}
