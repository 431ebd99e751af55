import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { foldName, nameSimilarity } from '../name-similarity.ts';

export interface LocalEntity {
  readonly id: string;
  readonly schema: 'Person' | 'Company' | 'Organization' | 'LegalEntity';
  readonly names: readonly string[];
  readonly datasets: readonly string[];
}

interface LocalAnswer {
  readonly status: number;
  /** Sent as it is where it is text, as JSON otherwise. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What can go wrong with one request: another answer, a cut connection, silence, or an answer cut in the middle. */
export type YenteFault = LocalAnswer | 'cut' | 'silence' | 'half';

export interface LocalYente {
  readonly url: string;
  readonly requests: { readonly call: string; readonly authorization?: string; readonly body: string }[];
  /** Takes over the next request whose method and path match. */
  interfere(matches: RegExp, fault: YenteFault): void;
  /** What the catalogue says of its datasets; `null` before an index is built. */
  setIndexVersion(version: string | null): void;
  close(): Promise<void>;
}

export interface LocalYenteOptions {
  readonly entities: readonly LocalEntity[];
  /** The collection and its sources; a query of any other dataset is answered 404. */
  readonly collection: string;
  /** Asked for as `Authorization: ApiKey …`, as the hosted API does; a server of one's own asks for nothing. */
  readonly apiKey?: string;
}

/** Which schemata of the model a query is compared with. */
const COMPARED: Readonly<Record<string, readonly string[]>> = {
  Person: ['Person', 'LegalEntity'],
  Company: ['Company', 'Organization', 'LegalEntity'],
  Organization: ['Company', 'Organization', 'LegalEntity'],
  LegalEntity: ['Person', 'Company', 'Organization', 'LegalEntity'],
};
const MAX_BATCH = 100;
const DEFAULT_LIMIT = 5;
const DEFAULT_THRESHOLD = 0.7;

/** A server on loopback that answers as yente does: the same shapes, statuses and rules about queries. */
export async function startLocalYente(options: LocalYenteOptions): Promise<LocalYente> {
  const requests: { call: string; authorization?: string; body: string }[] = [];
  const faults: { matches: RegExp; fault: YenteFault }[] = [];
  const sources = new Set([options.collection, ...options.entities.flatMap(({ datasets }) => datasets)]);
  let indexVersion: string | null = '20261115120000-abc';

  function catalog(): LocalAnswer {
    const datasets = [...sources].map((name) => ({
      name,
      title: name,
      load: name === options.collection,
      version: '20261115120000-abc',
      index_version: name === options.collection ? indexVersion : null,
      index_current: indexVersion !== null,
      children: name === options.collection ? [...sources].filter((one) => one !== name) : [],
    }));
    return { status: 200, body: { datasets, current: [], outdated: [], index_stale: false } };
  }

  function match(dataset: string, parameters: URLSearchParams, text: string): LocalAnswer {
    if (!sources.has(dataset)) return refused(404, 'No such dataset.');
    if (indexVersion === null) return refused(503, 'Index not ready.');
    const queries = readQueries(text);
    if (queries === undefined) {
      return { status: 422, body: { detail: [{ loc: ['body'], msg: 'field required' }] } };
    }
    if (queries.length > MAX_BATCH) return refused(400, 'Too many queries in one batch (limit: 100)');
    if (queries.length === 0) return refused(400, 'No queries provided.');
    const unknown = queries.find(([, { schema }]) => COMPARED[schema] === undefined);
    if (unknown !== undefined) return refused(400, `Cannot parse example entity: ${unknown[1].schema}`);
    const limit = Number(parameters.get('limit') ?? DEFAULT_LIMIT);
    const threshold = Number(parameters.get('threshold') ?? DEFAULT_THRESHOLD);
    const responses = Object.fromEntries(
      queries.map(([key, query]) => {
        const results = score(dataset, query, threshold).slice(0, limit);
        return [key, { status: 200, results, total: { value: results.length, relation: 'eq' }, query }];
      }),
    );
    return { status: 200, body: { responses, matcher: {}, limit } };
  }

  function score(dataset: string, { schema, properties }: EntityQuery, threshold: number) {
    const asked = (properties.name ?? []).map(foldName);
    return options.entities
      .filter((entity) => COMPARED[schema]?.includes(entity.schema) === true)
      .filter(({ datasets }) => dataset === options.collection || datasets.includes(dataset))
      .map(({ id, names, datasets, ...entity }) => {
        const likeness = names.flatMap((name) => asked.map((one) => nameSimilarity(one, foldName(name))));
        const best = Math.max(0, ...likeness);
        return {
          id,
          caption: names[0] ?? id,
          schema: entity.schema,
          properties: { name: names, topics: ['sanction'] },
          datasets,
          referents: [],
          target: true,
          score: Number(best.toFixed(2)),
          features: { name_match: best },
          match: best >= threshold,
        };
      })
      .filter(({ match }) => match)
      .sort((one, other) => other.score - one.score);
  }

  function answer(request: IncomingMessage, body: string): LocalAnswer {
    if (options.apiKey !== undefined && request.headers.authorization !== `ApiKey ${options.apiKey}`) {
      return refused(401, 'Invalid API key.');
    }
    const url = new URL(request.url ?? '', 'http://local');
    if (request.method === 'GET' && url.pathname === '/catalog') return catalog();
    const dataset = /^\/match\/([^/]+)$/.exec(url.pathname)?.[1];
    if (dataset === undefined) return refused(404, 'Not Found');
    if (request.method !== 'POST') return refused(405, 'Method Not Allowed');
    return match(decodeURIComponent(dataset), url.searchParams, body);
  }

  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const call = `${request.method} ${request.url}`;
    const { authorization } = request.headers;
    requests.push({ call, body, ...(authorization === undefined ? {} : { authorization }) });
    const place = faults.findIndex(({ matches }) => matches.test(call));
    const fault = place < 0 ? undefined : faults.splice(place, 1)[0]?.fault;
    if (fault === 'silence') return;
    if (fault === 'cut') return void request.socket.destroy();
    send(response, typeof fault === 'object' ? fault : answer(request, body), fault === 'half');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    interfere: (matches, fault) => void faults.push({ matches, fault }),
    setIndexVersion: (version) => {
      indexVersion = version;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const refused = (status: number, detail: string): LocalAnswer => ({ status, body: { detail } });

function send(response: ServerResponse, { status, body, headers }: LocalAnswer, cutInTheMiddle: boolean) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...headers,
  });
  if (!cutInTheMiddle) return void response.end(text);
  response.write(text.slice(0, Math.floor(text.length / 2)), () => response.destroy());
}

interface EntityQuery {
  readonly schema: string;
  readonly properties: Readonly<Record<string, readonly string[]>>;
}

/** Nothing where the body does not have the shape that the server's model checks. */
function readQueries(text: string): [string, EntityQuery][] | undefined {
  let content: { queries?: Record<string, Partial<EntityQuery>> };
  try {
    content = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof content?.queries !== 'object' || content.queries === null) return undefined;
  const entries = Object.entries(content.queries);
  const isComplete = entries.every(([, { schema, properties }]) => schema !== undefined && properties);
  return isComplete ? (entries as [string, EntityQuery][]) : undefined;
}
