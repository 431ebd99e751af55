import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type RenderedMarkdown, readOpening, renderMarkdown } from './markdown.ts';

const ROOT = fileURLToPath(new URL('../../../../../', import.meta.url));

/** A markdown file of the repository, at its address under /docs. */
export interface DocPage {
  readonly title: string;
  /** The title in lists of pages. */
  readonly label: string;
  /** The first paragraph, as text. */
  readonly lead: string;
  /** Where it is served, such as `/docs/guides/orders`. */
  readonly url: string;
  /** The file, from the root of the repository. */
  readonly file: string;
  /** Its Markdown, whose links also lead from one served file to another. */
  readonly source: string;
  /** The chapter it is listed in; none for a page that only links lead to. */
  readonly chapter: string | undefined;
  /** Made when it is first asked for. */
  render(): RenderedMarkdown;
}

export interface Chapter {
  readonly title: string;
  readonly pages: readonly DocPage[];
}

export interface DocSet {
  readonly chapters: readonly Chapter[];
  /** Every page, listed or not, by its address. */
  readonly byUrl: ReadonlyMap<string, DocPage>;
}

/**
 * The order in which pages are listed: the one place that decides it. A file that is not named here is listed by itself, at
 * the end of the last chapter of its folder.
 */
const ORDER: readonly {
  readonly title: string;
  readonly folder: 'guides' | 'reference';
  readonly names: readonly string[];
}[] = [
  { title: 'Start', folder: 'guides', names: ['sandbox', 'cli', 'testing', 'conformance', 'mcp'] },
  {
    title: 'Build',
    folder: 'guides',
    names: [
      'widget',
      'discovery',
      'customers',
      'quotes',
      'orders',
      'signing',
      'webhooks',
      'fiat-accounts',
      'exports',
    ],
  },
  { title: 'Provide liquidity', folder: 'guides', names: ['vendors'] },
  {
    title: 'Run',
    folder: 'guides',
    names: [
      'production',
      'console',
      'operating',
      'chain',
      'observability',
      'capacity',
      'backup',
      'upgrading',
    ],
  },
  {
    title: 'Tables',
    folder: 'reference',
    names: [
      'errors',
      'failures',
      'events',
      'states',
      'rails',
      'test-values',
      'config',
      'effects',
      'contract',
      'conformance',
      'bench',
    ],
  },
];

/** Listed behind the last chapter. */
const ALONE = ['docs/architecture.md', 'docs/threat-model.md'];

/** Read once, when a page is first asked for: a start does not wait for it. */
export async function loadDocs(root = ROOT): Promise<DocSet> {
  const files = await listFiles(root);
  const urls = new Map(files.map((file) => [file, urlOf(file)]));
  const listed = chapterFiles(files);
  const chapterOf = new Map(
    listed.flatMap(({ title, files: own }) => own.map((file) => [file, title] as const)),
  );
  const pages = await Promise.all(
    files.map(async (file): Promise<DocPage> => {
      const source = await readFile(join(root, file), 'utf8');
      const opening = readOpening(source);
      const title = file === 'README.md' ? 'Getting started' : opening.title || posix.basename(file, '.md');
      let rendered: RenderedMarkdown | undefined;
      return {
        title,
        label: title.split(':')[0] ?? title,
        lead: opening.lead,
        file,
        source: file === 'README.md' ? source.replaceAll('](docs/', '](/docs/') : source,
        url: urlOf(file),
        chapter: chapterOf.get(file),
        render() {
          rendered ??= renderMarkdown(source, (href) => resolveLink(file, href, urls));
          return rendered;
        },
      };
    }),
  );
  const byFile = new Map(pages.map((page) => [page.file, page]));
  return {
    chapters: listed.map(({ title, files: own }) => ({
      title,
      pages: own.flatMap((file) => byFile.get(file) ?? []),
    })),
    byUrl: new Map(pages.map((page) => [page.url, page])),
  };
}

/** Records of decisions are served because guides link to them, and listed nowhere. */
async function listFiles(root: string): Promise<string[]> {
  const folders = await Promise.all(
    ['guides', 'reference', 'decisions'].map(async (folder) =>
      (await readdir(join(root, 'docs', folder)))
        .filter((name) => name.endsWith('.md'))
        .toSorted()
        .map((name) => `docs/${folder}/${name}`),
    ),
  );
  return ['README.md', ...ALONE, ...folders.flat()];
}

function chapterFiles(files: readonly string[]): { title: string; files: string[] }[] {
  const named = new Set(
    ORDER.flatMap(({ folder, names }) => names.map((name) => `docs/${folder}/${name}.md`)),
  );
  return ORDER.map(({ title, folder, names }, index) => {
    const own = names.map((name) => `docs/${folder}/${name}.md`).filter((file) => files.includes(file));
    const isLast = !ORDER.slice(index + 1).some((later) => later.folder === folder);
    const others = isLast
      ? files.filter((file) => dirname(file) === `docs/${folder}` && !named.has(file))
      : [];
    return {
      title,
      files: [
        ...(index === 0 ? ['README.md'] : []),
        ...own,
        ...others,
        ...(index === ORDER.length - 1 ? ALONE : []),
      ],
    };
  });
}

function urlOf(file: string): string {
  return file === 'README.md' ? '/docs/getting-started' : `/${file.replace(/\.md$/, '')}`;
}

/** Links are written for readers of the repository: from file to file. */
function resolveLink(from: string, href: string, urls: ReadonlyMap<string, string>): string | undefined {
  if (/^(https?:|mailto:|#)/.test(href)) return href;
  if (href.startsWith('/')) return href;
  const [path = '', anchor] = href.split('#');
  const target = posix.normalize(posix.join(posix.dirname(from), path)).replace(/\/$/, '');
  if (target === 'docs/guides' || target === 'docs') return '/docs';
  if (target.startsWith('docs/images/')) return `/${target}`;
  const url = urls.get(target);
  if (url === undefined) return undefined;
  return anchor === undefined ? url : `${url}#${anchor}`;
}
