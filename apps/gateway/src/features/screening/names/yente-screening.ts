import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { ExchangeFailedError, exchangeJson, type JsonExchange } from '../../../chain/rpc/json-exchange.ts';
import {
  NameScreeningUnavailable,
  type ScreeningHit,
  type ScreeningPort,
  type ScreeningSubject,
} from '../../../ports/name-screening.ts';
import { bestOfEach, MAX_HITS } from './list-screening.ts';

/**
 * OpenSanctions' matching API: a yente server of one's own, or the hosted one.
 *
 *   POST {url}/match/{dataset}?threshold=0.7&limit=10
 *     { "queries": { "name": { "schema": "Person", "properties": { "name": ["…"] } } } }
 *   → { "responses": { "name": { "status": 200, "results": [{ "id", "caption", "score", "match", "datasets" … }] } } }
 *
 * A match is a likeness, so it goes to `review` and a person decides. Whatever is not a complete answer is no answer:
 * the subject stays pending and is asked for again.
 */
export interface YenteSettings {
  readonly url: string;
  /** A source or a collection that the server has indexed, such as `sanctions`. */
  readonly dataset: string;
  /** Sent as `Authorization: ApiKey …`; the hosted API and most proxies before a server of one's own ask for it. */
  readonly apiKey?: string | undefined;
  /** The score from 0 to 1 from which a result is a match. */
  readonly threshold: number;
  readonly timeoutMs: number;
  /** Milliseconds, for how long the edition of the dataset is remembered. */
  readonly now: () => number;
}

/** An entity comes with all its names and addresses: tens of kilobytes each. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
const MAX_CATALOG_BYTES = 16 * 1024 * 1024;
const CATALOG_REMEMBERED_MS = 600_000;
const READABLE = /[\p{L}\p{N}]/u;

const Answer = Type.Object({
  responses: Type.Record(
    Type.String(),
    Type.Object({
      status: Type.Optional(Type.Integer()),
      results: Type.Array(
        Type.Object({
          id: Type.String({ minLength: 1, maxLength: 300 }),
          caption: Type.String(),
          score: Type.Number({ minimum: 0 }),
          match: Type.Boolean(),
        }),
      ),
    }),
  ),
});
type Matches = Static<typeof Answer>['responses'][string];

const Catalog = Type.Object({
  datasets: Type.Array(
    Type.Object({
      name: Type.String(),
      load: Type.Optional(Type.Boolean()),
      version: Type.Optional(Type.Union([Type.String(), Type.Null()])),
      index_version: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    }),
  ),
});

export function createYenteScreening(settings: YenteSettings): ScreeningPort {
  const { url, dataset, threshold } = settings;
  const editionOf = rememberedEdition(settings);
  const matchUrl = `${url}/match/${encodeURIComponent(dataset)}?threshold=${threshold}&limit=${MAX_HITS}`;

  async function match(kind: ScreeningSubject['kind'], names: readonly string[]): Promise<ScreeningHit[]> {
    const schema = kind === 'individual' ? 'Person' : 'Company';
    // Each spelling is a query of its own: a server that averages names must not let one of them dilute the other.
    const queries = Object.fromEntries(
      names.map((name, place) => [`name${place}`, { schema, properties: { name: [name] } }]),
    );
    const answer = await ask(settings, {
      url: matchUrl,
      method: 'POST',
      body: { queries },
      maxAnswerBytes: MAX_ANSWER_BYTES,
    });
    if (!Value.Check(Answer, answer)) throw unreadable();
    const { responses } = answer;
    return bestOfEach(Object.keys(queries).flatMap((key) => hitsOf(responses[key], threshold)));
  }

  return {
    async screen({ kind, name, nativeName }) {
      const given = [name, nativeName ?? ''].map((text) => text.trim()).filter((text) => text !== '');
      const names = [...new Set(given)].filter((text) => READABLE.test(text));
      // A name without a letter or digit cannot be compared with anything, so it cannot be cleared either.
      const isUnreadable = given.length === 0 || given.some((text) => !READABLE.test(text));
      const [edition, hits] = await Promise.all([editionOf(), names.length === 0 ? [] : match(kind, names)]);
      return {
        status: hits.length > 0 || isUnreadable ? 'review' : 'clear',
        hits,
        listVersion: `yente ${dataset} ${edition}`,
      };
    },
  };
}

function hitsOf(matches: Matches | undefined, threshold: number): ScreeningHit[] {
  // A query without a response of its own was not answered, whatever the status of the whole.
  if (matches === undefined || (matches.status ?? 200) !== 200) throw unreadable();
  return matches.results
    .filter(({ match, score }) => match || score >= threshold)
    .map(({ id, caption, score }) => ({
      entryId: id,
      listedName: caption.slice(0, 300),
      score: Math.min(100, Math.round(score * 100)),
    }));
}

/**
 * Which edition of the dataset the server has indexed, from its catalogue; `unversioned` where that cannot be read. A
 * dataset that the server means to load but has not indexed yet has no entities: it would clear everybody.
 */
function rememberedEdition(settings: YenteSettings): () => Promise<string> {
  let known: { readonly edition: string; readonly until: number } | undefined;
  return async () => {
    if (known !== undefined && settings.now() < known.until) return known.edition;
    const catalog = await ask(settings, {
      url: `${settings.url}/catalog`,
      method: 'GET',
      maxAnswerBytes: MAX_CATALOG_BYTES,
    }).catch(() => undefined);
    const found = Value.Check(Catalog, catalog)
      ? catalog.datasets.find(({ name }) => name === settings.dataset)
      : undefined;
    if (found?.load === true && found.index_version === null) {
      throw new NameScreeningUnavailable('the name screening has not indexed its dataset yet');
    }
    const edition = (found?.index_version ?? found?.version ?? 'unversioned').slice(0, 60);
    known = { edition, until: settings.now() + CATALOG_REMEMBERED_MS };
    return edition;
  };
}

function ask(
  { apiKey, timeoutMs }: YenteSettings,
  exchange: Omit<JsonExchange, 'timeoutMs'>,
): Promise<unknown> {
  const authorization = apiKey === undefined ? {} : { authorization: `ApiKey ${apiKey}` };
  return exchangeJson({ ...exchange, ...authorization, timeoutMs }).catch((error: unknown) => {
    if (!(error instanceof ExchangeFailedError)) throw error;
    throw new NameScreeningUnavailable(`the name screening ${error.message}`);
  });
}

const unreadable = () => new NameScreeningUnavailable('the name screening answered in an unknown shape');
