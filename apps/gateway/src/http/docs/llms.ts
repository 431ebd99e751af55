import { type ApiDocument, type ApiOperation, byTag, operationsOf } from './api-operations.ts';
import type { DocSet } from './doc-pages.ts';
import { DOWNLOADS, firstSentence } from './home.ts';

/** The index for language models, in the form of llmstxt.org: a title, a summary, lists of links. */
export function llmsIndex(docs: DocSet, api: ApiDocument, baseUrl: string): string {
  const chapters = docs.chapters.map(({ title, pages }) => {
    const lines = pages.map(
      (page) => `- [${page.title}](${baseUrl}${page.url}.md): ${firstSentence(page.lead)}`,
    );
    return `## ${title === 'Tables' ? 'Reference' : title}\n\n${lines.join('\n')}\n`;
  });
  const extras = DOWNLOADS.filter(({ url }) => url !== '/llms.txt').map(
    ({ url, title, about }) => `- [${title}](${baseUrl}${url}): ${about}`,
  );
  return `${opening(api)}
${chapters.join('\n')}
## Optional

${extras.join('\n')}
`;
}

/** All of it in one text: every listed page, then every operation with a request. */
export function llmsFull(docs: DocSet, api: ApiDocument, baseUrl: string): string {
  const pages = docs.chapters.flatMap((chapter) =>
    chapter.pages.map(({ url, source }) => `<!-- ${baseUrl}${url} -->\n\n${source.trim()}\n`),
  );
  const operations = byTag(api, operationsOf(api)).map(
    ({ name, description, operations: own }) =>
      `## ${name}\n\n${description}\n\n${own.map((operation) => operationText(operation)).join('\n')}`,
  );
  return `${opening(api)}
${pages.join('\n---\n\n')}
---

# API operations

The base URL is ${baseUrl}. Exact schemas are in ${baseUrl}/api/v1/openapi.json.

${operations.join('\n')}`;
}

function opening({ info }: ApiDocument): string {
  return `# ${info.title}

> A self-hostable stablecoin on-ramp and off-ramp for partners: one API to quote, open and settle orders between fiat and USDC, USDT or USDT0.

Version ${info.version}. ${(info.description ?? '').replaceAll(/\s+/g, ' ').trim()}
`;
}

function operationText({ method, path, summary, description, keyClass, query, body }: ApiOperation): string {
  const lines = [`### ${method} ${path}`, '', `${summary}. ${key(keyClass)}`];
  if (description !== '') lines.push('', description);
  if (query.length > 0) {
    const names = query.map(({ name, required }) => `\`${name}\`${required ? ' (required)' : ''}`);
    lines.push('', `Query: ${names.join(', ')}.`);
  }
  if (body !== undefined) {
    if (body.mediaType !== 'application/json') lines.push('', `Body: \`${body.mediaType}\`.`);
    else lines.push('', '```json', JSON.stringify(body.example, null, 2), '```');
  }
  return `${lines.join('\n')}\n`;
}

function key(keyClass: ApiOperation['keyClass']): string {
  return keyClass === undefined ? 'Public.' : `Takes a ${keyClass} key in \`X-API-Key\`.`;
}
