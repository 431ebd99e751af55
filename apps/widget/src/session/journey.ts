import { effect } from '@preact/signals';
import type { Step } from './steps.ts';
import { change, step } from './store.ts';

/** The way up to the order, which then has a progress of its own; where each step leads back to. */
export const JOURNEY = ['amount', 'identify', 'verify', 'destination', 'review'] as const;
export type JourneyStep = (typeof JOURNEY)[number];

export function isJourneyStep(shown: Step): shown is JourneyStep {
  return (JOURNEY as readonly string[]).includes(shown);
}

/** Who the customer is does not have to be said twice: before the destination comes the amount. */
export function goBack(from: JourneyStep): void {
  if (from === 'review') change({ isDestinationDone: false });
  else change({ isAmountDone: false, isDestinationDone: false, showsOrders: false, orderId: '' });
}

/** What an entry of the browser’s history says of the journey. */
interface Entry {
  /** How far the journey had come. */
  readonly reached: number;
  /** Counted, so that the way back is told from the way forward. */
  readonly number: number;
}

function readEntry(state: unknown): Entry | undefined {
  const { reached, number } = (state ?? {}) as Partial<Entry>;
  return reached === undefined || number === undefined ? undefined : { reached, number };
}

/**
 * On a page of its own the browser’s Back leads to the step before, as everybody expects, and leaves only from the first. Each
 * step forward is an entry of the history. An entry whose step is not shown again, such as the e-mail address, is passed
 * over; the way forward is the form’s alone, because each step needs what the one before has found out.
 */
export function followBrowserBack(view: Pick<Window, 'history' | 'addEventListener'> = window): void {
  const { history } = view;
  let isBegun = false;
  let here = readEntry(history.state) ?? { reached: 0, number: 0 };
  const write = (entry: Entry, how: 'pushState' | 'replaceState') => {
    here = entry;
    history[how]({ ...(history.state as object | null), ...entry }, '');
  };
  effect(() => {
    const shown = step.value;
    if (!isJourneyStep(shown)) return;
    const reached = JOURNEY.indexOf(shown);
    if (isBegun && reached > here.reached) write({ reached, number: here.number + 1 }, 'pushState');
    else write({ ...here, reached }, 'replaceState');
    isBegun = true;
  });
  view.addEventListener('popstate', ({ state }) => {
    const target = readEntry(state);
    // A link to another fragment, which begins the page anew.
    if (target === undefined) return;
    const isBack = target.number < here.number;
    const before = step.peek();
    here = target;
    for (let shown = before; isJourneyStep(shown) && JOURNEY.indexOf(shown) > target.reached; ) {
      goBack(shown);
      shown = step.peek();
    }
    if (before !== step.peek()) return;
    if (isBack) history.back();
    else if (isJourneyStep(before)) write({ ...here, reached: JOURNEY.indexOf(before) }, 'replaceState');
  });
}
