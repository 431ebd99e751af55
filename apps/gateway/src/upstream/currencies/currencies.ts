import { type CatalogueOptions, DEFAULT_FRESHNESS } from '@causeway/currencies';
import type { Database } from '../../db/database.ts';
import type { Listener } from '../../db/listener.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Currencies } from '../../ports/currencies.ts';
import { createRateHistory, type StoredRateHistory } from '../rates/rate.store.ts';
import { createRatePublisher, type RateLeadership } from '../rates/rate-publisher.ts';
import { createRateRecorder } from '../rates/rate-recorder.ts';
import { backfillSimulatedHistory, type RateSourceSetting, rateSourcesOf } from '../rates/rate-sources.ts';
import { createHttpCurrencies } from './currencies-http.ts';
import { createInProcessCurrencies } from './currencies-in-process.ts';

export interface CurrenciesPartsOptions {
  readonly db: Database;
  /** Not started yet: what is listened for is named before it connects. */
  readonly listener: Listener;
  readonly logger: Logger;
  /** Machine time. */
  readonly wall: () => number;
  /** Names this process among the workers; a uuid. */
  readonly holder: string;
  /** A remote backend; without it the one in this process is used. */
  readonly currenciesUrl: string | undefined;
  /** For the backend in this process; a remote one has its own. */
  readonly rateSources: readonly RateSourceSetting[];
  readonly catalogue?: CatalogueOptions;
}

export interface CurrenciesParts {
  readonly currencies: Currencies;
  readonly history: StoredRateHistory;
  /** The worker's part: reads sources or writes down what a remote backend says. Every worker starts it, one of them leads. */
  readonly rateKeeper: RateLeadership;
  readonly ownsCatalogue: boolean;
  /** Until when an observation of these sources may be priced on; undefined where a remote backend decides that. */
  readonly freshUntil: (sources: readonly string[], observedAt: number) => number | undefined;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Everything of the currencies backend that a process needs, whichever way the backend is reached. */
export function createCurrenciesParts(options: CurrenciesPartsOptions): CurrenciesParts {
  const { db, listener, logger, wall, holder, currenciesUrl, rateSources } = options;
  const catalogue = options.catalogue === undefined ? {} : { catalogue: options.catalogue };
  const history = createRateHistory(db);
  const sources = rateSourcesOf(rateSources, { now: wall });
  const currencies =
    currenciesUrl === undefined
      ? createInProcessCurrencies({ db, listener, logger, wall, ...catalogue })
      : createHttpCurrencies({ baseUrl: currenciesUrl, logger, wall, ...catalogue });
  const rateKeeper =
    currenciesUrl === undefined
      ? createRatePublisher({
          db,
          logger,
          wall,
          history,
          holder,
          sources,
          ...(rateSources.includes('simulated')
            ? { backfill: (target: StoredRateHistory) => backfillSimulatedHistory(target, wall) }
            : {}),
        })
      : createRateRecorder({ db, logger, wall, history, currencies, holder });

  return {
    currencies,
    history,
    rateKeeper,
    ownsCatalogue: currenciesUrl === undefined,
    freshUntil: (names, observedAt) => {
      const own = sources.filter(({ source }) => names.includes(source.name));
      if (currenciesUrl !== undefined || own.length === 0) return undefined;
      // The pair is carried by whichever of its sources stays fresh the longest.
      return Math.max(...own.map(({ source }) => DEFAULT_FRESHNESS.kinds[source.kind](observedAt)));
    },
    start: () => currencies.start(),
    stop: () => currencies.stop(),
  };
}
