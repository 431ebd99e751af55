import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type MessageFormatElement, parse, TYPE } from '@formatjs/icu-messageformat-parser';
import type { Plugin } from 'rolldown';
import { type Message, type Part, POUND } from './src/i18n/message.ts';

/**
 * The messages of the widget: `src/i18n/messages/<language>/<area>.json`. English has the keys; every other language has the
 * same ones with the same arguments, or the build fails.
 */
export const MESSAGES = join(import.meta.dirname, 'src/i18n/messages');

/** language → area → key → ICU text */
export type Catalogue = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, string>>>>>>;

export function readCatalogue(folder = MESSAGES): Catalogue {
  const catalogue: Record<string, Record<string, Record<string, string>>> = {};
  for (const file of globSync('*/*.json', { cwd: folder }).toSorted()) {
    const [language = '', area = ''] = file.replace(/\.json$/, '').split(/[\\/]/);
    const messages = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Record<string, string>;
    catalogue[language] = { ...catalogue[language], [area]: messages };
  }
  return catalogue;
}

/** What an argument is to a message: any text, a number that chooses a plural, or one of some words. */
type ArgumentKind = 'text' | 'number' | `one of ${string}`;

/** The shipped form of a message; throws where it does not parse or has a kind of argument that is not ours. */
export function compileMessage(text: string): Message {
  const compiled = compileElements(parse(text, { ignoreTag: true, requiresOtherClause: true }));
  return compiled.every((part) => typeof part === 'string') ? compiled.join('') : compiled;
}

function compileElements(elements: readonly MessageFormatElement[]): Part[] {
  return elements.map((element) => {
    switch (element.type) {
      case TYPE.literal:
        return element.value;
      case TYPE.pound:
        return POUND;
      case TYPE.argument:
        return [element.value];
      case TYPE.select:
        return [element.value, 'select', compileOptions(element.options)];
      case TYPE.plural: {
        const kind = element.pluralType ?? 'cardinal';
        const options = compileOptions(element.options);
        return element.offset === 0
          ? [element.value, kind, options]
          : [element.value, kind, options, element.offset];
      }
      default:
        // Amounts, dates and times come from decimal strings and have one look everywhere: format.ts.
        throw new Error(
          `{${element.value}} has a format of its own; format it before (format.ts) and give it as text`,
        );
    }
  });
}

function compileOptions(options: Record<string, { value: MessageFormatElement[] }>): Record<string, Message> {
  return Object.fromEntries(
    Object.entries(options).map(([name, { value }]) => {
      const parts = compileElements(value);
      return [name, parts.every((part) => typeof part === 'string') ? parts.join('') : parts];
    }),
  );
}

/** The arguments of a message and what each is. */
export function argumentsOf(
  message: Message,
  found = new Map<string, ArgumentKind>(),
): Map<string, ArgumentKind> {
  if (typeof message === 'string') return found;
  for (const part of message) {
    if (typeof part === 'string' || part === POUND) continue;
    const [name, kind, options = {}] = part;
    if (kind === undefined) {
      if (!found.has(name)) found.set(name, 'text');
      continue;
    }
    found.set(name, kind === 'select' ? `one of ${Object.keys(options).toSorted().join(', ')}` : 'number');
    for (const option of Object.values(options)) argumentsOf(option, found);
  }
  return found;
}

/** What is wrong with the catalogue, a line each; a build needs none. */
export function catalogueProblems(catalogue: Catalogue): string[] {
  const { en: english = {}, ...others } = catalogue;
  const problems = [...duplicateKeys(english)];
  for (const [area, messages] of Object.entries(english)) {
    const expected = new Map<string, Map<string, ArgumentKind>>();
    for (const [key, text] of Object.entries(messages)) {
      const read = readMessage('en', area, key, text);
      problems.push(...read.problems);
      if (read.message !== undefined) expected.set(key, argumentsOf(read.message));
    }
    for (const [language, areas] of Object.entries(others)) {
      problems.push(...areaProblems(language, area, messages, areas[area] ?? {}, expected));
    }
  }
  for (const [language, areas] of Object.entries(others)) {
    for (const area of Object.keys(areas)) {
      if (english[area] === undefined) problems.push(`${language}/${area}.json: English has no such file`);
    }
  }
  return problems;
}

function duplicateKeys(areas: Catalogue[string]): string[] {
  const home = new Map<string, string>();
  const problems: string[] = [];
  for (const [area, messages] of Object.entries(areas)) {
    for (const key of Object.keys(messages)) {
      const other = home.get(key);
      if (other === undefined) home.set(key, area);
      else problems.push(`en/${area}.json: "${key}" is in en/${other}.json already`);
    }
  }
  return problems;
}

function areaProblems(
  language: string,
  area: string,
  english: Readonly<Record<string, string>>,
  messages: Readonly<Record<string, string>>,
  expected: ReadonlyMap<string, ReadonlyMap<string, ArgumentKind>>,
): string[] {
  const file = `${language}/${area}.json`;
  const problems: string[] = [];
  for (const key of Object.keys(english)) {
    const text = messages[key];
    if (text === undefined) {
      problems.push(`${file}: "${key}" is missing`);
      continue;
    }
    const read = readMessage(language, area, key, text);
    problems.push(...read.problems);
    const wanted = expected.get(key);
    if (read.message === undefined || wanted === undefined) continue;
    problems.push(...argumentProblems(`${file}: "${key}"`, wanted, argumentsOf(read.message)));
  }
  for (const key of Object.keys(messages)) {
    if (english[key] === undefined) problems.push(`${file}: "${key}" is not in English`);
  }
  return problems;
}

function argumentProblems(
  where: string,
  wanted: ReadonlyMap<string, ArgumentKind>,
  given: ReadonlyMap<string, ArgumentKind>,
): string[] {
  const problems: string[] = [];
  for (const [name, kind] of wanted) {
    const own = given.get(name);
    if (own === undefined) problems.push(`${where} does not use {${name}}`);
    // A language without plurals may show the number as it is.
    else if (own !== kind && !(kind === 'number' && own === 'text')) {
      problems.push(`${where} takes {${name}} for ${own}; English takes it for ${kind}`);
    }
  }
  for (const name of given.keys()) {
    if (!wanted.has(name)) problems.push(`${where} uses {${name}}, which English does not`);
  }
  return problems;
}

function readMessage(
  language: string,
  area: string,
  key: string,
  text: unknown,
): { message?: Message; problems: string[] } {
  const where = `${language}/${area}.json: "${key}"`;
  if (typeof text !== 'string' || text.trim() === '') return { problems: [`${where} has no text`] };
  try {
    const message = compileMessage(text);
    return { message, problems: pluralProblems(where, language, message) };
  } catch (error) {
    return { problems: [`${where} does not parse: ${error instanceof Error ? error.message : error}`] };
  }
}

/** A plural says something for each category that whole numbers have in its language, and for no other. */
function pluralProblems(where: string, language: string, message: Message): string[] {
  if (typeof message === 'string') return [];
  return message.flatMap((part) => {
    if (typeof part === 'string' || part === POUND) return [];
    const [name, kind, options = {}] = part;
    const inner = Object.values(options).flatMap((option) => pluralProblems(where, language, option));
    if (kind === undefined || kind === 'select') return inner;
    const rules = new Intl.PluralRules(language, { type: kind });
    const needed = new Set(Array.from({ length: 201 }, (_, number) => rules.select(number)));
    const known = rules.resolvedOptions().pluralCategories;
    const missing = [...needed].filter((category) => options[category] === undefined);
    const strange = Object.keys(options).filter(
      (option) =>
        !option.startsWith('=') && !known.includes(option as Intl.LDMLPluralRule) && option !== 'other',
    );
    return [
      ...inner,
      ...missing.map((category) => `${where} has no words for {${name}} “${category}”`),
      ...strange.map(
        (category) => `${where} has words for {${name}} “${category}”, which the language does not have`,
      ),
    ];
  });
}

/** Keys in the order of the alphabet, every file alike, so that two languages can be read side by side. */
export function orderProblems(catalogue: Catalogue): string[] {
  return Object.entries(catalogue).flatMap(([language, areas]) =>
    Object.entries(areas).flatMap(([area, messages]) => {
      const keys = Object.keys(messages);
      const sorted = keys.toSorted();
      return keys.every((key, index) => key === sorted[index])
        ? []
        : [`${language}/${area}.json: keys are not sorted`];
    }),
  );
}

/** Messages that read as in English: words that are the same in both languages, or a translation that is still to be made. */
export function sameAsEnglish(catalogue: Catalogue): string[] {
  const { en: english = {}, ...others } = catalogue;
  return Object.entries(others).flatMap(([language, areas]) =>
    Object.entries(areas).flatMap(([area, messages]) =>
      Object.entries(messages)
        .filter(
          ([key, text]) => english[area]?.[key] === text && /\p{L}{3}/u.test(text.replace(/\{[^}]*\}/g, '')),
        )
        .map(([key, text]) => `${language}/${area}.json: "${key}" ${JSON.stringify(text)}`),
    ),
  );
}

/** Sorts every file and writes the English text where a language has none, for someone to translate. */
export function fillCatalogue(folder = MESSAGES): void {
  const catalogue = readCatalogue(folder);
  for (const [language, areas] of Object.entries(catalogue)) {
    for (const [area, english] of Object.entries(catalogue.en ?? {})) {
      const own = areas[area] ?? {};
      const entries = Object.keys(english)
        .toSorted()
        .map((key) => [key, own[key] ?? english[key]]);
      const text = `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`;
      writeFileSync(join(folder, language, `${area}.json`), text);
    }
  }
}

/** For the bundler: checks all messages once and hands over each file in its shipped form. */
export function messagesPlugin(folder = MESSAGES): Plugin {
  return {
    ...compileMessageFiles(),
    buildStart() {
      const problems = catalogueProblems(readCatalogue(folder));
      if (problems.length > 0) {
        throw new Error(`the messages of the widget are not complete:\n${problems.join('\n')}`);
      }
    },
  };
}

/** The second half alone, for tests: they run while a translation is still missing. */
export function compileMessageFiles() {
  return {
    name: 'widget-messages',
    transform: {
      filter: { id: /[\\/]i18n[\\/]messages[\\/][^\\/]+[\\/][^\\/]+\.json$/ },
      handler(code: string) {
        const messages = JSON.parse(code) as Record<string, string>;
        const compiled = Object.entries(messages).map(([key, text]) => [key, compileMessage(text)]);
        return { code: JSON.stringify(Object.fromEntries(compiled)) };
      },
    },
    // Before the bundler makes a module of the JSON.
    enforce: 'pre' as const,
  };
}
