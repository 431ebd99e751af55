import { readFile } from 'node:fs/promises';

/** A test that a document names as proof: `file` › title. Without a title the whole file is meant. */
export interface CitedTest {
  readonly file: string;
  readonly title: string | undefined;
}

/** Documents that name tests as proof. */
export const DOCUMENTS = ['docs/threat-model.md', 'docs/reference/owasp-api.md'] as const;

const CITATION = /`([\w./-]+\.test\.tsx?)`(?: › ([^|;]+))?/g;

export function citedTests(text: string): CitedTest[] {
  return [...text.matchAll(CITATION)].map(([, file = '', title]) => ({ file, title: title?.trim() }));
}

/** Rows of a document's tables that name no test, and tests that are not there, one sentence each. */
export async function citedTestFaults(document: string): Promise<string[]> {
  const cited = citedTests(await readFile(document, 'utf8'));
  const faults = await Promise.all(
    cited.map(async ({ file, title }) => {
      const source = await readFile(file, 'utf8').catch(() => undefined);
      if (source === undefined) return [`${document}: ${file} does not exist`];
      return title === undefined || source.includes(title) ? [] : [`${document}: ${file} has no "${title}"`];
    }),
  );
  return faults.flat();
}
