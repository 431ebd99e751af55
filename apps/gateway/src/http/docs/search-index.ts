import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ApiDocument, type ApiOperation, operationsOf } from './api-operations.ts';
import type { DocSet } from './doc-pages.ts';

/** What the search looks through: a section of a page, or an operation. The browser makes its index of it. */
export interface SearchEntry {
  readonly id: number;
  readonly kind: 'guide' | 'table' | 'operation';
  readonly url: string;
  readonly title: string;
  /** The page or the chapter it belongs to. */
  readonly within: string;
  readonly text: string;
  /** Of an operation, such as `POST`. */
  readonly method?: string;
}

export async function searchEntries(docs: DocSet, api: ApiDocument): Promise<SearchEntry[]> {
  const sections: Omit<SearchEntry, 'id'>[] = [];
  for (const page of docs.chapters.flatMap(({ pages }) => pages)) {
    for (const { id, heading, parent, text } of page.render().sections) {
      sections.push({
        kind: page.file.startsWith('docs/reference/') ? 'table' : 'guide',
        url: id === '' ? page.url : `${page.url}#${encodeURIComponent(id)}`,
        title: heading || page.title,
        within: parent === '' ? page.label : `${page.label} › ${parent}`,
        text,
      });
    }
    // All pages at once would keep requests waiting.
    await nextTurn();
  }
  const operations = operationsOf(api).map((operation) => ({
    kind: 'operation' as const,
    url: operationUrl(operation),
    title: operation.summary,
    within: operation.tag,
    method: operation.method,
    text: `${operation.path} ${operation.id} ${operation.description}`.trim(),
  }));
  return [...operations, ...sections].map((entry, id) => ({ id, ...entry }));
}

/** Where the reference shows an operation. */
export function operationUrl({ tag, method, path }: ApiOperation): string {
  const slug = tag
    .toLowerCase()
    .replaceAll(/[^a-z0-9\s-]/g, '')
    .replaceAll(/\s/g, '-');
  return `/docs/reference#tag/${slug}/${method}${path}`;
}
