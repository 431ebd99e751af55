import { cleanText } from './redact.ts';
import type { Shown } from './views.ts';

/** The documentation that a deployment serves, as a model reads it. Public: no key is sent. */
export interface Docs {
  search(query: string, limit: number): Promise<Shown[]>;
  /** Every page that can be read. */
  list(signal: AbortSignal): Promise<Resource[]>;
  /** Undefined where there is no such page. */
  read(uri: string, signal: AbortSignal): Promise<{ mimeType: string; text: string } | undefined>;
}

export interface Resource {
  readonly uri: string;
  readonly name: string;
  readonly description: string;
  readonly mimeType: string;
}

interface SearchEntry {
  readonly kind: string;
  readonly url: string;
  readonly title: string;
  readonly within: string;
  readonly text: string;
  readonly method?: string;
}

const SCHEME = 'causeway://';
const INDEX: Resource = {
  uri: `${SCHEME}llms.txt`,
  name: 'Index of the documentation',
  description: 'Every guide and reference page with one sentence each.',
  mimeType: 'text/plain',
};
const PAGE = /^causeway:\/\/docs\/((?:guides|reference)\/[a-z0-9-]+|getting-started|architecture)$/;
/** A line of llms.txt: `- [Title](https://…/docs/guides/orders.md): what it is about`. */
const LISTED = /^- \[([^\]]+)\]\(\S*?\/(docs\/[a-z0-9/-]+)\.md\): (.*)$/;
const LONGEST_PAGE = 100_000;
const LARGEST_ANSWER = 8 * 1024 * 1024;
const INDEX_TIMEOUT_MS = 15_000;
const EXCERPT = 1_200;

export function createDocs(baseUrl: string): Docs {
  let entries: Promise<readonly SearchEntry[]> | undefined;

  async function get(path: string, signal: AbortSignal): Promise<string | undefined> {
    const response = await fetch(new URL(path, baseUrl), { signal, redirect: 'error' });
    if (response.status === 404) return undefined;
    if (!response.ok) throw new Error(`the documentation answered ${response.status}`);
    const text = await response.text();
    if (text.length > LARGEST_ANSWER) throw new Error('the documentation is larger than is taken');
    return text;
  }

  async function index(): Promise<readonly SearchEntry[]> {
    // Kept once it is there: it does not change while a deployment runs. Not given up with one of several callers.
    const signal = AbortSignal.timeout(INDEX_TIMEOUT_MS);
    entries ??= get('/docs/search.json', signal).then((text) => JSON.parse(text ?? '[]'));
    return entries.catch((error: unknown) => {
      entries = undefined;
      throw error;
    });
  }

  return {
    async search(query, limit) {
      const words = wordsOf(query);
      const scored = (await index())
        .map((entry) => ({ entry, score: scoreOf(entry, words) }))
        .filter(({ score }) => score > 0)
        .toSorted((left, right) => right.score - left.score);
      return scored.slice(0, limit).map(({ entry }) => ({
        title: cleanText(entry.title),
        within: cleanText(entry.within),
        ...(entry.method === undefined ? {} : { method: entry.method }),
        url: new URL(entry.url, baseUrl).href,
        text: excerptOf(entry.text, words),
      }));
    },

    async list(signal) {
      const text = (await get('/llms.txt', signal)) ?? '';
      const pages = text.split('\n').flatMap((line) => {
        const [, name = '', path = '', about = ''] = LISTED.exec(line) ?? [];
        const uri = `${SCHEME}${path}`;
        if (!PAGE.test(uri)) return [];
        return [{ uri, name: cleanText(name), description: cleanText(about), mimeType: 'text/markdown' }];
      });
      return [INDEX, ...pages];
    },

    async read(uri, signal) {
      const [, page] = PAGE.exec(uri) ?? [];
      if (uri !== INDEX.uri && page === undefined) return undefined;
      const text = await get(page === undefined ? '/llms.txt' : `/docs/${page}.md`, signal);
      if (text === undefined) return undefined;
      const shown = text.length > LONGEST_PAGE ? `${text.slice(0, LONGEST_PAGE)}\n\n(cut here)\n` : text;
      return { mimeType: page === undefined ? 'text/plain' : 'text/markdown', text: shown };
    },
  };
}

function wordsOf(query: string): string[] {
  return [...new Set(query.toLowerCase().match(/[\p{L}\p{N}_]{2,}/gu))];
}

/** Words of the title count most; an entry with all words comes before one with a word many times. */
function scoreOf({ title, within, text }: SearchEntry, words: readonly string[]): number {
  const [inTitle, around, body] = [title.toLowerCase(), within.toLowerCase(), text.toLowerCase()];
  const scores = words.map((word) => {
    const times = Math.min(5, body.split(word).length - 1);
    return (inTitle.includes(word) ? 6 : 0) + (around.includes(word) ? 2 : 0) + times;
  });
  const found = scores.filter((score) => score > 0).length;
  return scores.reduce((sum, score) => sum + score, 0) + 10 * found * Number(found === words.length);
}

/** The part of a section around the first word that was looked for. */
function excerptOf(text: string, words: readonly string[]): string {
  if (text.length <= EXCERPT) return cleanText(text, EXCERPT);
  const places = words.map((word) => text.toLowerCase().indexOf(word)).filter((at) => at >= 0);
  const from = Math.max(0, Math.min(...places, text.length) - 200);
  return cleanText(`${from > 0 ? '…' : ''}${text.slice(from, from + EXCERPT)}`, EXCERPT);
}
