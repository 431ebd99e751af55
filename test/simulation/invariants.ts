import {
  type Actor,
  decide,
  interruptsOrder,
  isPublished,
  isTerminal,
  ORDER_MACHINES,
  ORDER_TRIGGERS,
} from '@causeway/protocol';
import { CHAIN } from './template.ts';
import type { SeenOrder, World } from './world.ts';

/** What holds after every step; the text of the first that does not. */
export function brokenInvariant(world: World): string | undefined {
  const { seen } = world;
  if (seen.off_balance.length > 0) return `the books do not balance in ${seen.off_balance.join(', ')}`;
  if (seen.overdrawn.length > 0) return `offer ${seen.overdrawn[0]} has more or less than it can have`;
  for (const order of seen.orders) {
    const broken =
      oneWinner(order) ??
      booksAreTheChain(world, order) ??
      helpIsInReach(order, seen.is_cleared) ??
      allIsPublished(order);
    if (broken !== undefined) return `order ${order.order_id} (${order.status}): ${broken}`;
  }
  return undefined;
}

const PAYOUTS = [
  'escrow_released',
  'escrow_returned_to_vendor',
  'escrow_refunded',
  'escrow_settled_elsewhere',
];

function oneWinner({ entries }: SeenOrder): string | undefined {
  const payouts = entries.filter((kind) => PAYOUTS.includes(kind));
  return payouts.length > 1 ? `paid out more than once: ${payouts.join(', ')}` : undefined;
}

const PAYOUT_EFFECTS = /^escrow\.(?!deploy)/;

/**
 * What was paid into an escrow up to the block that the watcher has read, less what the books say is there, has left it: as one or more
 * of the executions that are final. An execution that is final and not booked yet has an effect that will book it.
 */
function booksAreTheChain({ chain, seen }: World, order: SeenOrder): string | undefined {
  const booked = BigInt(order.booked);
  if (booked < 0n) return `its escrow holds ${booked} in the books`;
  if (order.escrow === null || !order.is_watched) return undefined;
  const moved = movementsOf(chain, order.escrow.address, Number(seen.cursor ?? 0));
  const left = moved.paidIn - booked;
  if (!subsetSums(moved.paidOut).has(left)) {
    return `${moved.paidIn} paid in, ${moved.paidOut.join(' and ') || 'nothing'} paid out, ${booked} booked`;
  }
  const unbooked = moved.paidOut.reduce((sum, one) => sum + one, 0n) - left;
  const isUnderway =
    order.open_effects.some((kind) => PAYOUT_EFFECTS.test(kind)) ||
    order.deposits.some(({ disposition }) => disposition === 'returning');
  return unbooked > 0n && !isUnderway ? `${unbooked} left its escrow and nothing will book it` : undefined;
}

interface Movements {
  readonly paidIn: bigint;
  /** One sum an execution. */
  readonly paidOut: readonly bigint[];
}

export function movementsOf(chain: World['chain'], escrow: string, readTo: number): Movements {
  let paidIn = 0n;
  const paidOut: bigint[] = [];
  const end = escrow.slice(2).toLowerCase();
  const isEscrow = (topic: string) => topic.endsWith(end);
  for (const block of chain.blocks.slice(0, chain.everFinal + 1)) {
    for (const { logs } of block.receipts) {
      let out = 0n;
      for (const { address, topics, data } of logs) {
        if (address !== CHAIN.tokens[0]?.address) continue;
        // By hand: it is done for every log after every step, and a token of the simulation logs nothing but transfers.
        const [, from = '', to = ''] = topics;
        if (isEscrow(to) && block.number <= readTo) paidIn += BigInt(data);
        if (isEscrow(from)) out += BigInt(data);
      }
      if (out > 0n) paidOut.push(out);
    }
  }
  return { paidIn, paidOut };
}

function subsetSums(amounts: readonly bigint[]): ReadonlySet<bigint> {
  let sums = new Set([0n]);
  for (const amount of amounts) sums = new Set([...sums].flatMap((sum) => [sum, sum + amount]));
  return sums;
}

const PERSONS: readonly Actor[] = ['partner', 'vendor', 'operator'];

/** An order that is not over can be moved on by a person, by its deadline, or by an effect that is still to be carried out. */
function helpIsInReach(order: SeenOrder, isCleared: boolean): string | undefined {
  const machine = ORDER_MACHINES[order.direction];
  if (
    isTerminal(machine, order.status) &&
    order.facts.escrow !== 'releasing' &&
    order.facts.escrow !== 'refunding'
  ) {
    return undefined;
  }
  if (order.has_deadline || order.open_effects.length > 0) return undefined;
  const facts = {
    ...order.facts,
    kycCleared: isCleared,
    payeeCleared: true,
    payoutWalletsCleared: true,
    refundWalletCleared: true,
  };
  const isPossible = ORDER_TRIGGERS.some(
    (trigger) =>
      (trigger === 'hold_released' || !interruptsOrder(trigger)) &&
      PERSONS.some((actor) => decide(machine, order.status, trigger, facts, actor).kind === 'moved'),
  );
  return isPossible ? undefined : 'no person, deadline or effect can move it on';
}

/** Every status that partners are told of is told once, in the order in which the order had them. */
function allIsPublished({ direction, statuses, published }: SeenOrder): string | undefined {
  const machine = ORDER_MACHINES[direction];
  const told = statuses.filter((status) => status !== 'created' && isPublished(machine, status as never));
  return told.join() === published.join() ? undefined : `was ${told.join()}, published ${published.join()}`;
}
