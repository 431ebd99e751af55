import { NEW, ORDER_MACHINES, type OrderDirection, type OrderStatus } from '@causeway/protocol/machines';

/** Where each status of a machine stands in its drawing, read off the table: no list of statuses is kept here. */
export interface Node {
  readonly status: OrderStatus;
  readonly says: string;
  readonly outcome: 'settled' | 'stopped' | 'disputed' | undefined;
  readonly x: number;
  readonly y: number;
}

export interface Edge {
  readonly from: OrderStatus;
  readonly to: OrderStatus;
}

export interface Layout {
  readonly nodes: readonly Node[];
  readonly edges: readonly Edge[];
  readonly width: number;
  readonly height: number;
}

export const NODE_WIDTH = 168;
export const NODE_HEIGHT = 48;
const COLUMNS = 4;
const GAP_X = 36;
const GAP_Y = 44;

export function directionOf(orderType: string): OrderDirection {
  return orderType === 'offramp' ? 'offramp' : 'onramp';
}

/** The way of a trade line by line, from left to right; what ends an order without one stands below. */
export function layoutOf(direction: OrderDirection): Layout {
  const machine = ORDER_MACHINES[direction];
  const edges = edgesOf(direction);
  const isStop = (status: OrderStatus) => {
    const outcome = machine.statuses[status]?.outcome;
    return outcome === 'stopped' || outcome === 'disputed';
  };
  const ranks = ranksOf(
    direction,
    edges.filter(({ from, to }) => !isStop(from) && !isStop(to)),
  );
  const way = machine.statusNames
    .filter((status) => !isStop(status))
    .map((status, index) => ({ status, rank: ranks.get(status) ?? 0, index }))
    .sort((a, b) => a.rank - b.rank || a.index - b.index)
    .map(({ status }) => status);
  const stops = machine.statusNames.filter(isStop);
  const wayRows = Math.ceil(way.length / COLUMNS);
  const place = (status: OrderStatus, column: number, row: number): Node => ({
    status,
    says: machine.statuses[status]?.says ?? '',
    outcome: machine.statuses[status]?.outcome,
    x: 2 + column * (NODE_WIDTH + GAP_X),
    y: 2 + row * (NODE_HEIGHT + GAP_Y),
  });
  return {
    nodes: [
      ...way.map((status, index) => place(status, index % COLUMNS, Math.floor(index / COLUMNS))),
      ...stops.map((status, index) => place(status, index, wayRows)),
    ],
    edges,
    width: COLUMNS * NODE_WIDTH + (COLUMNS - 1) * GAP_X + 4,
    height: (wayRows + 1) * NODE_HEIGHT + wayRows * GAP_Y + 4,
  };
}

function edgesOf(direction: OrderDirection): Edge[] {
  const found = new Map<string, Edge>();
  for (const { from, to } of ORDER_MACHINES[direction].transitions) {
    for (const source of [from].flat()) {
      if (source !== NEW && source !== to) found.set(`${source} ${to}`, { from: source, to });
    }
  }
  return [...found.values()];
}

/** The longest way to each status that passes none twice. */
function ranksOf(direction: OrderDirection, edges: readonly Edge[]): ReadonlyMap<OrderStatus, number> {
  const ranks = new Map<OrderStatus, number>();
  const { transitions } = ORDER_MACHINES[direction];
  const visit = (status: OrderStatus, rank: number, path: ReadonlySet<OrderStatus>) => {
    if (path.has(status) || (ranks.get(status) ?? -1) >= rank) return;
    ranks.set(status, rank);
    const further = new Set([...path, status]);
    for (const { from, to } of edges) if (from === status) visit(to, rank + 1, further);
  };
  for (const { from, to } of transitions) if (from === NEW) visit(to, 0, new Set());
  return ranks;
}
