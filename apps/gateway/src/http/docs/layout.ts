import { VERSION } from '../version.ts';
import type { Chapter, DocPage } from './doc-pages.ts';
import { escapeHtml } from './highlight.ts';
import type { Heading } from './markdown.ts';

/** What every page under /docs has around its content. */
export interface PageFrame {
  readonly title: string;
  /** For search engines and link previews. */
  readonly description: string;
  readonly url: string;
  readonly chapters: readonly Chapter[];
  readonly sandbox: boolean;
  readonly main: string;
  /** Beside the content, where there is room. */
  readonly aside?: string;
  /** More files of the head, such as those of the API reference. */
  readonly head?: string;
  /** `broad` has nothing beside it; `wide` is the API reference, which has a navigation of its own. */
  readonly layout?: 'broad' | 'wide';
}

const REFERENCE = { url: '/docs/reference', label: 'API reference' };

export function renderFrame(frame: PageFrame): string {
  const { title, url, sandbox } = frame;
  const heading = url === '/docs' ? 'Causeway documentation' : `${title} · Causeway documentation`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="theme-color" content="#ffffff" media="(prefers-color-scheme: light)">
<meta name="theme-color" content="#0d1117" media="(prefers-color-scheme: dark)">
<meta name="description" content="${escapeHtml(frame.description)}">
<title>${escapeHtml(heading)}</title>
<link rel="icon" href="/docs/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/docs/assets/docs.css">
<script type="module" src="/docs/assets/docs.js"></script>
${frame.head ?? ''}
</head>
<body class="${frame.layout ?? 'article'}">
<a class="skip" href="#content">Skip to content</a>
<header class="bar">
<button class="menu" type="button" popovertarget="pages" aria-label="Pages">${MENU_ICON}</button>
<a class="brand" href="/docs"><img src="/docs/assets/icon.svg" alt="" width="26" height="26"><span>Causeway</span></a>
<span class="version" title="Version of this deployment">v${escapeHtml(VERSION)}</span>
${sandbox ? '<span class="environment">Sandbox</span>' : ''}
<nav class="sections" aria-label="Sections">${sectionLinks(url)}</nav>
<button class="search" type="button" aria-label="Search" aria-haspopup="dialog" aria-keyshortcuts="/">${SEARCH_ICON}<span>Search</span><kbd>/</kbd></button>
</header>
<div class="columns">
<nav class="pages" id="pages" popover aria-label="Pages">${pageLinks(frame)}</nav>
<main id="content" tabindex="-1">${frame.main}</main>
${frame.aside ?? ''}
</div>
${SEARCH_DIALOG}
</body>
</html>
`;
}

function sectionLinks(url: string): string {
  const inReference = url === REFERENCE.url;
  return [
    link({ url: '/docs', label: 'Guides' }, inReference ? '' : '/docs'),
    link(REFERENCE, inReference ? REFERENCE.url : ''),
  ].join('');
}

function pageLinks({ chapters, url }: PageFrame): string {
  const lists = chapters.map(({ title, pages }) => {
    const own: Pick<DocPage, 'url' | 'label'>[] = title === 'Tables' ? [REFERENCE, ...pages] : [...pages];
    const id = `pages-${title.toLowerCase().replaceAll(' ', '-')}`;
    const shown = title === 'Tables' ? 'Reference' : title;
    const items = own.map((page) => `<li>${link(page, url)}</li>`).join('');
    return `<h2 id="${id}">${escapeHtml(shown)}</h2><ul aria-labelledby="${id}">${items}</ul>`;
  });
  return lists.join('\n');
}

function link({ url, label }: Pick<DocPage, 'url' | 'label'>, current: string): string {
  return `<a href="${escapeHtml(url)}"${url === current ? ' aria-current="page"' : ''}>${escapeHtml(label)}</a>`;
}

/** A document, with its headings beside it and its neighbours below. */
export function renderDocument(page: DocPage, chapters: readonly Chapter[], sandbox: boolean): string {
  const { title, url, lead, chapter } = page;
  const { html, headings } = page.render();
  const main = `<article>
${chapter === undefined ? '' : `<p class="chapter">${escapeHtml(chapter === 'Tables' ? 'Reference' : chapter)}</p>`}
<h1>${escapeHtml(title)}</h1>
${contents(headings, 'inline')}
${html}
<footer class="end">${neighbours(page, chapters)}<p><a href="${escapeHtml(url)}.md">This page as Markdown</a></p></footer>
</article>`;
  const aside = contents(headings, 'aside');
  return renderFrame({
    title,
    description: lead.slice(0, 300),
    url,
    chapters,
    sandbox,
    main,
    aside,
    ...(aside === '' ? { layout: 'broad' } : {}),
  });
}

/** Beside the text on wide screens, folded above it on narrow ones. */
function contents(headings: readonly Heading[], place: 'aside' | 'inline'): string {
  const shown = headings.filter(({ depth }) => depth === 2 || depth === 3);
  if (shown.length < 2) return '';
  const items = shown
    .map(
      ({ depth, id, text }) =>
        `<li class="depth-${depth}"><a href="#${encodeURIComponent(id)}">${escapeHtml(text)}</a></li>`,
    )
    .join('');
  if (place === 'inline') {
    return `<details class="contents-inline"><summary>On this page</summary><ul>${items}</ul></details>`;
  }
  return `<nav class="contents" aria-labelledby="contents-title"><h2 id="contents-title">On this page</h2><ul>${items}</ul></nav>`;
}

function neighbours({ url }: DocPage, chapters: readonly Chapter[]): string {
  const all = chapters.flatMap(({ pages }) => pages);
  const at = all.findIndex((page) => page.url === url);
  if (at < 0) return '';
  const one = (page: DocPage | undefined, label: string, rel: string) =>
    page === undefined
      ? ''
      : `<a class="${rel}" rel="${rel}" href="${escapeHtml(page.url)}"><span>${label}</span>${escapeHtml(page.label)}</a>`;
  return `<nav class="neighbours" aria-label="Previous and next page">${one(all[at - 1], 'Previous', 'prev')}${one(all[at + 1], 'Next', 'next')}</nav>`;
}

const MENU_ICON =
  '<svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true"><path d="M3 5.5h14M3 10h14M3 14.5h14" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round"/></svg>';
const SEARCH_ICON =
  '<svg viewBox="0 0 20 20" width="16" height="16" aria-hidden="true"><circle cx="9" cy="9" r="5.5" fill="none" stroke="currentColor" stroke-width="1.6"/><path d="m13.2 13.2 3.8 3.8" stroke="currentColor" stroke-width="1.6" stroke-linecap="round"/></svg>';

const SEARCH_DIALOG = `<dialog class="finder" aria-label="Search the documentation">
<form method="dialog">
${SEARCH_ICON}
<input type="search" role="combobox" aria-expanded="false" aria-controls="found" aria-autocomplete="list" aria-label="Search guides and operations" placeholder="Search guides and operations" autocomplete="off" spellcheck="false">
<button type="submit">Close</button>
</form>
<p class="hint" role="status" aria-live="polite"></p>
<ul id="found" role="listbox" aria-label="Results"></ul>
</dialog>`;
