import type { PreparedReading } from '../../http/prepared-answer.ts';
import type { Currencies } from '../../ports/currencies.ts';
import type { Offers } from '../../ports/offers.ts';
import { AnswerMemory } from './answer-memory.ts';
import { CorridorList } from './corridors.ts';

/** Corridors priced at a time: a turn takes less than a request does. */
const CORRIDORS_A_TURN = 10;

/**
 * The answer with all corridors, one for all callers. New rates price every corridor anew, which takes as long as tens of
 * requests: while callers ask, it is done as soon as something has changed, in turns between requests. Until it is done
 * the list before is answered, which was right a moment ago. Who asks after a quiet while waits for the pricing.
 */
export function createCorridorAnswer({
  currencies,
  offers,
}: {
  readonly currencies: Currencies;
  readonly offers: Pick<Offers, 'book' | 'onChange'>;
}): () => PreparedReading {
  const memory = new AnswerMemory();
  const list = new CorridorList();
  let ahead: Generator<undefined, void, undefined> | undefined;
  let wasAsked = false;
  let isBehind = false;

  function priceAhead(): void {
    isBehind = true;
    if (!wasAsked || ahead !== undefined) return;
    wasAsked = false;
    ahead = pricing();
    setImmediate(turn);
  }

  function* pricing(): Generator<undefined, void, undefined> {
    isBehind = false;
    const { reference, rates } = currencies.current();
    yield* list.pricing(reference, rates, offers.book());
    prepared();
  }

  function turn(): void {
    try {
      for (let priced = 0; priced < CORRIDORS_A_TURN; priced++) {
        if (ahead?.next().done !== true) continue;
        ahead = undefined;
        if (isBehind) priceAhead();
        return;
      }
      setImmediate(turn);
    } catch {
      // Whoever asks next is told why.
      ahead = undefined;
    }
  }

  const prepared = () => memory.recall(list.last, 'corridors', () => ({ corridors: list.last }));

  currencies.onChange(priceAhead);
  offers.onChange(priceAhead);

  return () => {
    const { reference, rates, ageSeconds } = currencies.current();
    if (ahead === undefined) list.at(reference, rates, offers.book());
    wasAsked = true;
    return { answer: prepared(), ageSeconds };
  };
}
