import type { WidgetBuild } from '@causeway/widget-app/build';
import { escapeHtml } from '../../http/docs/highlight.ts';

/** What a page of the widget tells its own script: nothing secret, nothing personal. */
export interface WidgetPageData {
  readonly kind: 'frame' | 'page';
  readonly widgetKey: string | null;
  readonly sessionId: string | null;
  /** Who may drive the frame: the same list as in the policy. */
  readonly origins: readonly string[];
}

const HEAD = `<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">`;

/** The page of the application; the frame and the hosted page differ in what is around it. */
export function renderWidgetPage(data: WidgetPageData, partnerName: string, build: WidgetBuild): string {
  const chunks = build.preload.map((name) => `<link rel="modulepreload" href="/widget/assets/${name}">`);
  return `<!doctype html>
<html lang="en">
<head>
${HEAD}
<title>${escapeHtml(partnerName)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/widget/assets/${build.styles}">
${chunks.join('\n')}
<script type="module" src="/widget/assets/${build.script}"></script>
<script type="application/json" id="causeway">${dataBlock(data)}</script>
</head>
<body class="${data.kind}">
<div id="widget"></div>
<noscript>This page needs JavaScript.</noscript>
</body>
</html>
`;
}

/** Said to a person who followed a link that leads nowhere; no script, so that it works whatever is wrong. */
export function renderProblemPage(title: string, text: string, styles: string | undefined): string {
  return `<!doctype html>
<html lang="en">
<head>
${HEAD}
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
${styles === undefined ? '' : `<link rel="stylesheet" href="/widget/assets/${styles}">`}
</head>
<body class="page">
<div id="widget"><div class="widget"><main><h1>${escapeHtml(title)}</h1><p>${escapeHtml(text)}</p></main></div></div>
</body>
</html>
`;
}

/** The page where a sandbox’s developers try the options. */
export function renderPlayground(data: object, build: WidgetBuild): string {
  return `<!doctype html>
<html lang="en">
<head>
${HEAD}
<title>Widget playground · Causeway sandbox</title>
<link rel="icon" href="/docs/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/widget/assets/${build.playground.styles}">
<script type="module" src="/widget/assets/${build.playground.script}"></script>
<script type="application/json" id="causeway">${dataBlock(data)}</script>
</head>
<body>
<div id="playground"></div>
<noscript>This page needs JavaScript.</noscript>
</body>
</html>
`;
}

/** JSON that no HTML parser takes for the end of its element. */
function dataBlock(value: object): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}
