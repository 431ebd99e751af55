import { Marked, type RendererObject, type Token, type Tokens } from 'marked';
import { escapeHtml, highlight } from './highlight.ts';

/** A document of the repository as a page: its HTML, its headings, and its text by section for the search. */
export interface RenderedMarkdown {
  readonly html: string;
  readonly headings: readonly Heading[];
  readonly sections: readonly Section[];
}

export interface Heading {
  readonly depth: number;
  readonly id: string;
  readonly text: string;
}

/** What stands under one heading; the text before the first has no id. */
export interface Section {
  readonly id: string;
  readonly heading: string;
  /** The heading above it, of a section within a section. */
  readonly parent: string;
  readonly text: string;
}

/** The address of what a link leads to; undefined where it is not served. */
export type ResolveLink = (href: string) => string | undefined;

const TITLE = /^# (.+)$/m;

/** The first heading and the first paragraph, without reading the rest. */
export function readOpening(source: string): { readonly title: string; readonly lead: string } {
  const title = TITLE.exec(source);
  const rest = title === null ? source : source.slice(title.index + title[0].length);
  const paragraph = rest
    .replaceAll(/<!--[\s\S]*?-->/g, '')
    .split(/\n\s*\n/)
    .find((part) => /^[\p{L}\p{N}`*_[]/u.test(part.trim()));
  const text = (part: string) => plainText(new Marked().lexer(part)).replaceAll(/\s+/g, ' ').trim();
  return { title: text(title?.[1] ?? ''), lead: text(paragraph ?? '') };
}

export function renderMarkdown(source: string, resolve: ResolveLink): RenderedMarkdown {
  const marked = new Marked();
  // The page shows its title itself.
  const tokens = marked.lexer(source.replace(TITLE, ''));
  const ids = headingIds(tokens);
  marked.use({ renderer: rendererOf(ids, resolve) });
  return {
    html: marked.parser(tokens),
    headings: tokens.filter(isHeading).map((token) => headingOf(token, ids)),
    sections: sectionsOf(tokens, ids),
  };
}

type Ids = ReadonlyMap<Token, string>;

function isHeading(token: Token): token is Tokens.Heading {
  return token.type === 'heading';
}

function headingOf(token: Tokens.Heading, ids: Ids): Heading {
  return { depth: token.depth, id: ids.get(token) ?? '', text: plainText([token]).trim() };
}

/** The anchors that links in the repository count on: those that GitHub gives its headings. */
function headingIds(tokens: readonly Token[]): Ids {
  const used = new Map<string, number>();
  const ids = new Map<Token, string>();
  for (const token of tokens.filter(isHeading)) {
    const slug = plainText([token])
      .trim()
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M}\s_-]/gu, '')
      .replaceAll(/\s/g, '-');
    const before = used.get(slug) ?? 0;
    used.set(slug, before + 1);
    ids.set(token, before === 0 ? slug : `${slug}-${before}`);
  }
  return ids;
}

function sectionsOf(tokens: readonly Token[], ids: Ids): Section[] {
  const sections: (Omit<Section, 'text'> & { parts: string[] })[] = [
    { id: '', heading: '', parent: '', parts: [] },
  ];
  let chapter = '';
  for (const token of tokens) {
    if (isHeading(token)) {
      const { id, text, depth } = headingOf(token, ids);
      if (depth <= 2) chapter = text;
      sections.push({ id, heading: text, parent: depth <= 2 ? '' : chapter, parts: [] });
    } else if (!(token.type === 'code' && isDiagram(token as Tokens.Code))) {
      sections.at(-1)?.parts.push(plainText([token]));
    }
  }
  return sections
    .map(({ parts, ...section }) => ({ ...section, text: parts.join(' ').replaceAll(/\s+/g, ' ').trim() }))
    .filter(({ heading, text }) => heading !== '' || text !== '');
}

function plainText(tokens: readonly Token[]): string {
  return tokens
    .map((token) => {
      if (token.type === 'html') return '';
      if (token.type === 'table') {
        const { header, rows } = token as Tokens.Table;
        return [header, ...rows]
          .flat()
          .map((cell) => plainText(cell.tokens))
          .join(' ');
      }
      if (token.type === 'list') {
        return (token as Tokens.List).items.map((item) => plainText(item.tokens)).join(' ');
      }
      const inner = (token as { tokens?: Token[] }).tokens;
      if (inner !== undefined) return plainText(inner);
      return 'text' in token ? String(token.text) : ' ';
    })
    .join('');
}

function isDiagram({ lang }: Tokens.Code): boolean {
  return lang === 'mermaid';
}

const SENTENCE_LENGTH = 50;

function rendererOf(ids: Ids, resolve: ResolveLink): RendererObject<string, string> {
  return {
    heading(token) {
      const id = ids.get(token) ?? '';
      const inner = this.parser.parseInline(token.tokens);
      const label = escapeHtml(`Link to “${plainText([token]).trim()}”`);
      return `<h${token.depth} id="${escapeHtml(id)}">${inner}<a class="anchor" href="#${encodeURIComponent(id)}" aria-label="${label}">#</a></h${token.depth}>\n`;
    },
    code(token) {
      const language = token.lang?.split(/\s/)[0] ?? '';
      const block = `<pre tabindex="0"><code>${highlight(token.text, language)}</code></pre>`;
      // Drawing it would take a library of megabytes; the table beside a diagram says the same.
      if (isDiagram(token))
        return `<details class="diagram"><summary>Diagram, as Mermaid source</summary>${block}</details>\n`;
      return `<div class="code">${block}</div>\n`;
    },
    link(token) {
      const inner = this.parser.parseInline(token.tokens);
      const href = resolve(token.href);
      if (href === undefined) return inner;
      const rel = /^https?:/.test(href) ? ' rel="noreferrer"' : '';
      return `<a href="${escapeHtml(href)}"${rel}>${inner}</a>`;
    },
    // Pictures of the repository only: nothing is fetched from elsewhere.
    image({ href, text }) {
      const source = resolve(href);
      if (source?.startsWith('/docs/images/') !== true) return escapeHtml(text);
      return `<img src="${escapeHtml(source)}" alt="${escapeHtml(text)}" loading="lazy">`;
    },
    // The documents hold comments for their readers in the repository, and no markup.
    html: ({ text }) => (text.trimStart().startsWith('<!--') ? '' : escapeHtml(text)),
    table(token) {
      // Columns of sentences need room; the browser would rather squeeze them than let a table scroll.
      const isLong = token.header.map((_, column) =>
        token.rows.some((row) => (row[column]?.text.length ?? 0) > SENTENCE_LENGTH),
      );
      const cells = (row: Tokens.TableCell[], tag: string) =>
        row
          .map((cell, column) => {
            const attributes = `${tag === 'th' ? ' scope="col"' : ''}${isLong[column] ? ' class="long"' : ''}`;
            return `<${tag}${attributes}>${this.parser.parseInline(cell.tokens)}</${tag}>`;
          })
          .join('');
      const named = token.header.some((cell) => cell.text.trim() !== '');
      const head = named ? `<thead><tr>${cells(token.header, 'th')}</tr></thead>` : '';
      const rows = token.rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n');
      return `<div class="table" tabindex="0" role="region" aria-label="Table"><table>${head}<tbody>${rows}</tbody></table></div>\n`;
    },
  };
}
