import type { OrderDirection } from '@causeway/protocol';
import { createRandom, type Random } from '../fuzz/random.ts';

/** How far an order has come, as far as it matters for what can go wrong with it. */
export const STAGES = ['unfunded', 'funded', 'claimed', 'over'] as const;
export type Stage = (typeof STAGES)[number];

const ODD_DEPOSITS = [
  'pays short',
  'pays one unit short',
  'pays too much',
  'pays twice',
  'pays the wrong token',
  'a foreign sender pays',
] as const;

const LOSSES = [
  'KYC is lost',
  'KYC is lost for good',
  'the recipient is blocked',
  'the recipient is blocked for good',
  'the partner’s wallet is blocked',
  'the vendor’s wallet is blocked',
] as const;

const THIRD_PARTIES = [
  'a third party deploys the escrow',
  'a third party executes first',
  'a third party deploys first',
] as const;

const OTHERS = ['the operator holds it', 'the chain is reorganised', 'the proof is rejected'] as const;

export const TROUBLES = [...ODD_DEPOSITS, ...LOSSES, ...THIRD_PARTIES, ...OTHERS] as const;
export type TroubleName = (typeof TROUBLES)[number];

export interface Trouble {
  readonly at: Stage;
  readonly what: TroubleName;
  /** Whether the next step waits until the service has seen it. */
  readonly isAwaited: boolean;
  /** One of many, for whatever has a size. */
  readonly size: number;
}

/** What becomes of the order if nothing else stops it. */
export const ENDINGS = [
  'completed',
  'cancelled',
  'cancelled while it is funded',
  'expired',
  'escrow error',
  'cost beyond its bound',
  'dispute for the buyer',
  'dispute for the seller',
] as const;
export type Ending = (typeof ENDINGS)[number];

/** Everything that is decided before a history begins: the same seed is the same history. */
export interface Plan {
  readonly seed: number;
  readonly direction: OrderDirection;
  readonly token: string;
  /** The quote fixes the fiat or the crypto. */
  readonly anchor: 'fiat_amount' | 'crypto_amount';
  readonly amount: string;
  /** Off-ramp: to somebody else than the customer. */
  readonly isToRecipient: boolean;
  readonly ending: Ending;
  readonly endsAt: Stage;
  readonly troubles: readonly Trouble[];
  /** Whether the operator accepts odd deposits where it may. */
  readonly accepts: boolean;
  /** Whether a short deposit is made up for. */
  readonly topsUp: boolean;
}

const TOKENS = ['USDC', 'USDC', 'USDT', 'USDT0'];

/** What can happen at a stage; named several times where it should come more often. */
const AT: Readonly<Record<Stage, readonly TroubleName[]>> = {
  unfunded: [
    ...ODD_DEPOSITS,
    ...ODD_DEPOSITS,
    ...ODD_DEPOSITS,
    ...LOSSES,
    ...THIRD_PARTIES,
    ...THIRD_PARTIES,
    ...OTHERS.slice(0, 2),
  ],
  funded: [
    'pays twice',
    'pays the wrong token',
    'a foreign sender pays',
    ...LOSSES,
    ...THIRD_PARTIES,
    ...OTHERS,
  ],
  claimed: ['pays twice', 'a foreign sender pays', ...LOSSES, ...THIRD_PARTIES, ...OTHERS],
  over: ['pays short', 'pays twice', 'pays the wrong token', 'a foreign sender pays', ...THIRD_PARTIES],
};

export function planOf(seed: number): Plan {
  const random = createRandom(seed);
  const direction = random.pick<OrderDirection>(['onramp', 'offramp', 'offramp']);
  const ending = random.chance(35) ? 'completed' : random.pick(ENDINGS);
  return {
    seed,
    direction,
    token: random.pick(TOKENS),
    anchor: random.pick(['fiat_amount', 'crypto_amount'] as const),
    amount: `${20 + random.below(80)}.${10 + random.below(90)}`,
    isToRecipient: direction === 'offramp' && random.chance(40),
    ending,
    endsAt: stageOf(random, ending),
    troubles: Array.from({ length: 1 + random.below(5) }, () => troubleOf(random)).sort(
      (one, other) => STAGES.indexOf(one.at) - STAGES.indexOf(other.at),
    ),
    accepts: random.chance(70),
    topsUp: random.chance(50),
  };
}

function stageOf(random: Random, ending: Ending): Stage {
  if (ending === 'cancelled while it is funded') return 'unfunded';
  if (ending.startsWith('dispute')) return random.pick(['funded', 'claimed'] as const);
  return random.pick(['unfunded', 'funded', 'claimed'] as const);
}

function troubleOf(random: Random): Trouble {
  const at = random.pick([...STAGES, 'unfunded'] as const);
  return { at, what: random.pick(AT[at]), isAwaited: random.chance(75), size: 1 + random.below(5_000_000) };
}
