import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NameScreeningUnavailable, type ScreeningSubject } from '../../../ports/name-screening.ts';
import { type LocalYente, startLocalYente, type YenteFault } from './testing/local-yente.ts';
import { createYenteScreening } from './yente-screening.ts';

const ENTITIES = [
  { id: 'NK-1', schema: 'Person', names: ['Viktor Examplov', 'Виктор Экземплов'], datasets: ['us_ofac_sdn'] },
  { id: 'NK-2', schema: 'Organization', names: ['Northern Granite Trading'], datasets: ['eu_fsf'] },
] as const;
const VIKTOR: ScreeningSubject = { kind: 'individual', name: 'Viktor Examplov' };
const ADA: ScreeningSubject = { kind: 'individual', name: 'Ada Lovelace' };

describe('screening by yente', () => {
  let yente: LocalYente;
  let now = 0;
  beforeEach(async () => {
    yente = await startLocalYente({ entities: ENTITIES, collection: 'sanctions', apiKey: 'secret-key' });
  });
  afterEach(() => yente.close());

  const screening = (settings: { dataset?: string; apiKey?: string; threshold?: number } = {}) =>
    createYenteScreening({
      url: yente.url,
      dataset: 'sanctions',
      apiKey: 'secret-key',
      threshold: 0.7,
      timeoutMs: 300,
      now: () => now,
      ...settings,
    });

  const matchRequests = () => yente.requests.filter(({ call }) => call.startsWith('POST /match/'));

  it('clears who has no match, and says which edition was asked', async () => {
    expect(await screening().screen(ADA)).toEqual({
      status: 'clear',
      hits: [],
      listVersion: 'yente sanctions 20261115120000-abc',
    });
  });

  it('sends a match to review with what was met, and never blocks by itself', async () => {
    expect(await screening().screen(VIKTOR)).toMatchObject({
      status: 'review',
      hits: [{ entryId: 'NK-1', listedName: 'Viktor Examplov', score: 100 }],
    });
  });

  it('asks for a company where the subject is a business, and for a person otherwise', async () => {
    const name = 'Northern Granite Trading';
    expect((await screening().screen({ kind: 'business', name })).status).toBe('review');
    expect((await screening().screen({ kind: 'individual', name })).status).toBe('clear');
  });

  it('asks for the native name beside the Latin one, and counts an entity once', async () => {
    const native = await screening().screen({ ...ADA, nativeName: 'Виктор Экземплов' });
    expect(native).toMatchObject({ status: 'review', hits: [{ entryId: 'NK-1' }] });
    const both = await screening().screen({ ...VIKTOR, nativeName: 'Виктор Экземплов' });
    expect(both.hits).toHaveLength(1);
  });

  it('passes the threshold on and counts what reaches it', async () => {
    const alike = { ...VIKTOR, name: 'Viktor Exemplov' };
    expect((await screening({ threshold: 0.8 }).screen(alike)).status).toBe('review');
    expect((await screening({ threshold: 1 }).screen(alike)).status).toBe('clear');
    expect(matchRequests().map(({ call }) => call)).toEqual([
      'POST /match/sanctions?threshold=0.8&limit=10',
      'POST /match/sanctions?threshold=1&limit=10',
    ]);
  });

  it('clears no name that cannot be read, and does not ask for it', async () => {
    expect((await screening().screen({ kind: 'individual', name: '!!! 😀' })).status).toBe('review');
    expect((await screening().screen({ kind: 'individual', name: ' ' })).status).toBe('review');
    expect(matchRequests()).toEqual([]);
  });

  it('sends the name in the body and the key in the header, neither in the address', async () => {
    await screening().screen(ADA);
    expect(matchRequests()).toMatchObject([{ authorization: 'ApiKey secret-key' }]);
    expect(JSON.parse(matchRequests()[0]?.body ?? '')).toEqual({
      queries: { name0: { schema: 'Person', properties: { name: ['Ada Lovelace'] } } },
    });
    for (const { call } of yente.requests) expect(call).not.toMatch(/Ada|Lovelace|secret/);
  });

  it('reads the edition once in ten minutes, and screens without it where there is no catalogue', async () => {
    const port = screening();
    yente.interfere(/catalog/, { status: 403, body: {} });
    expect((await port.screen(ADA)).listVersion).toBe('yente sanctions unversioned');
    await port.screen(ADA);
    now += 600_000;
    expect((await port.screen(ADA)).listVersion).toBe('yente sanctions 20261115120000-abc');
    expect(yente.requests.filter(({ call }) => call === 'GET /catalog')).toHaveLength(2);
  });

  describe('is unavailable, never clear,', () => {
    const match = { id: 'NK-1', caption: 'x', score: 0.9, match: true };
    const answered = (body: unknown): YenteFault => ({ status: 200, body });
    const results = (list: unknown, more: object = {}) =>
      answered({ responses: { name0: { results: list, ...more } } });

    it.each<[string, YenteFault]>([
      ['an error of the server', { status: 500, body: { detail: 'Internal error' } }],
      ['an index that is not ready', { status: 503, body: { detail: 'Index not ready.' } }],
      ['a limit of requests', { status: 429, body: { detail: 'Too many requests' } }],
      [
        'a redirect',
        { status: 307, body: '', headers: { location: 'https://elsewhere.example/match/sanctions' } },
      ],
      ['a cut connection', 'cut'],
      ['no answer in time', 'silence'],
      ['an answer cut in the middle', 'half'],
      ['a page of a proxy', answered('<html>sign in</html>')],
      ['an empty answer', answered('')],
      ['null', answered('null')],
      ['no responses', answered({ limit: 10 })],
      ['no response to the query', answered({ responses: {} })],
      ['responses to other queries', answered({ responses: { name7: { results: [] } } })],
      ['no results', answered({ responses: { name0: { total: { value: 0 } } } })],
      ['a failed query', results([], { status: 500 })],
      ['a score that is text', results([{ ...match, score: '0.9' }])],
      ['a score that is missing', results([{ id: 'NK-1', caption: 'x', match: false }])],
      ['a negative score', results([{ ...match, score: -1, match: false }])],
      ['a result without an id', results([{ ...match, id: undefined }])],
      ['more than the cap', answered(`{"responses":"${'x'.repeat(5_000_000)}"}`)],
    ])('after %s', async (_what, fault) => {
      yente.interfere(/^POST \/match/, fault);
      const failed = screening().screen(VIKTOR);
      await expect(failed).rejects.toThrow(NameScreeningUnavailable);
      const error: unknown = await failed.catch((reason: unknown) => reason);
      expect(String(error)).not.toMatch(/Viktor|127\.0\.0\.1|secret-key|elsewhere/);
      expect((await screening().screen(VIKTOR)).status).toBe('review');
    });

    it('with a wrong key or an unknown dataset', async () => {
      await expect(screening({ apiKey: 'other' }).screen(ADA)).rejects.toThrow('answered 401');
      await expect(screening({ dataset: 'unknown' }).screen(ADA)).rejects.toThrow('answered 404');
    });

    it('while the catalogue says that the dataset is not indexed', async () => {
      yente.setIndexVersion(null);
      await expect(screening().screen(ADA)).rejects.toThrow(NameScreeningUnavailable);
      yente.interfere(/^POST \/match/, answered({ responses: { name0: { results: [] } } }));
      await expect(screening().screen(ADA)).rejects.toThrow('has not indexed its dataset yet');
      yente.setIndexVersion('20261116000000-def');
      expect((await screening().screen(ADA)).status).toBe('clear');
    });

    it('where nothing listens', async () => {
      const gone = screening();
      await yente.close();
      await expect(gone.screen(ADA)).rejects.toThrow(NameScreeningUnavailable);
    });
  });

  it('a result at the threshold is a match even where the server does not mark it', async () => {
    yente.interfere(/^POST \/match/, {
      status: 200,
      body: { responses: { name0: { results: [{ id: 'a', caption: 'x', score: 0.7, match: false }] } } },
    });
    expect((await screening().screen(ADA)).status).toBe('review');
  });
});
