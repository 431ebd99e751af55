import type { Chapter } from './doc-pages.ts';
import { escapeHtml } from './highlight.ts';
import { renderFrame } from './layout.ts';

/** The page that `/` leads to: what this is, where to begin, what can be taken along. */
export function renderHome(chapters: readonly Chapter[], sandbox: boolean): string {
  const main = `<article class="home">
<h1>Stablecoins in, fiat out. Or the other way round.</h1>
<p class="lead">One API to quote, open and settle orders between fiat and USDC, USDT or USDT0 for your customers. Vendors bring the liquidity, an escrow on chain holds the crypto, and every step reaches you as a signed webhook.</p>
<p class="actions"><a class="primary" href="/docs/getting-started">Make a first order</a><a href="/docs/reference">API reference</a>${sandbox ? '<a href="/widget/playground">Try the widget</a><a href="/console">Console</a>' : ''}</p>
${chapters.map(chapterCards).join('\n')}
<h2 id="take-along">Take it along</h2>
<p>Made from this deployment’s own description, so they fit the version that serves them.</p>
<ul class="downloads">
${DOWNLOADS.map(({ url, title, about }) => `<li><a href="${url}">${title}</a><span>${about}</span></li>`).join('\n')}
</ul>
</article>`;
  return renderFrame({
    title: 'Documentation',
    description: 'Guides and API reference of Causeway, a self-hostable stablecoin on-ramp and off-ramp.',
    url: '/docs',
    chapters,
    sandbox,
    layout: 'broad',
    main,
  });
}

export const DOWNLOADS = [
  { url: '/api/v1/openapi.json', title: 'OpenAPI 3.1', about: 'for generators of clients' },
  {
    url: '/docs/postman.json',
    title: 'Postman collection',
    about: 'every operation, with variables for address and keys',
  },
  {
    url: '/docs/bruno.zip',
    title: 'Bruno collection',
    about: 'the same as a folder: unpack it and open it in Bruno',
  },
  { url: '/llms.txt', title: 'llms.txt', about: 'an index of these pages for language models' },
  { url: '/llms-full.txt', title: 'llms-full.txt', about: 'all guides and operations in one text' },
] as const;

function chapterCards({ title, pages }: Chapter): string {
  const shown = title === 'Tables' ? 'Reference' : title;
  const cards = pages.map(
    (page) =>
      `<li><a href="${escapeHtml(page.url)}"><strong>${escapeHtml(page.label)}</strong><span>${escapeHtml(firstSentence(page.lead))}</span></a></li>`,
  );
  return `<h2>${escapeHtml(shown)}</h2><ul class="cards">${cards.join('')}</ul>`;
}

/** A sentence ends where the next begins with a capital: `POST /x. Then` does, `sandbox.json` does not. */
export function firstSentence(text: string): string {
  const end = /[.:](?=\s+[A-Z`(])/.exec(text);
  const sentence = end === null ? text : text.slice(0, end.index);
  return sentence.length <= 160
    ? sentence.replace(/[.:]$/, '')
    : `${sentence.slice(0, 157).replace(/\s+\S*$/, '')} …`;
}
