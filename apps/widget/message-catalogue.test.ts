import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { afterEach, expect, test } from 'vitest';
import {
  argumentsOf,
  type Catalogue,
  catalogueProblems,
  compileMessage,
  fillCatalogue,
  messagesPlugin,
  orderProblems,
  readCatalogue,
} from './message-catalogue.ts';
import { messageUses, readSources, useProblems } from './message-uses.ts';
import { formatMessage } from './src/i18n/message.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A catalogue of two languages that is complete, for a test to spoil. */
const ENGLISH = {
  'a.count': '{count, plural, one {# order} other {# orders}} of {name}',
  'a.hello': 'Hello',
  'a.side': '{side, select, buy {You pay} other {You send}} {amount}',
};
const ARABIC = {
  'a.count':
    '{count, plural, zero {صفر} one {واحد} two {اثنان} few {# طلبات} many {# طلبًا} other {# طلب}} {name}',
  'a.hello': 'مرحبا',
  'a.side': '{side, select, buy {تدفع} other {ترسل}} {amount}',
};
const catalogueWith = (changed: Record<string, string | undefined>): Catalogue => ({
  en: { area: ENGLISH },
  ar: {
    area: Object.fromEntries(
      Object.entries({ ...ARABIC, ...changed }).filter(
        (entry): entry is [string, string] => entry[1] !== undefined,
      ),
    ),
  },
});

test('the messages of the widget are complete, sorted and all in use', () => {
  const catalogue = readCatalogue();
  expect(Object.keys(catalogue).toSorted()).toEqual(['ar', 'en', 'es', 'fr', 'hi', 'pt', 'sw', 'zh']);
  expect(catalogueProblems(catalogue)).toEqual([]);
  expect(orderProblems(catalogue)).toEqual([]);
  expect(useProblems(catalogue.en ?? {}, messageUses(readSources()))).toEqual([]);
});

test.each<[string, Record<string, string | undefined>, string]>([
  ['a missing key', { 'a.hello': undefined }, '"a.hello" is missing'],
  ['a key too many', { 'a.bye': 'وداعا' }, '"a.bye" is not in English'],
  [
    'an argument that is left out',
    { 'a.side': '{side, select, buy {a} other {b}}' },
    'does not use {amount}',
  ],
  ['an argument of its own', { 'a.hello': 'مرحبا {name}' }, 'uses {name}, which English does not'],
  ['other choices', { 'a.side': '{side, select, other {b}} {amount}' }, 'takes {side} for one of other'],
  [
    'text taken for a number',
    {
      'a.side':
        '{side, select, buy {a} other {b}} {amount, plural, zero {a} one {a} two {a} few {a} many {a} other {a}}',
    },
    'takes {amount} for number; English takes it for text',
  ],
  ['text that does not parse', { 'a.hello': 'مرحبا {' }, '"a.hello" does not parse'],
  ['no text', { 'a.hello': ' ' }, '"a.hello" has no text'],
  ['a number with a format of its own', { 'a.hello': '{n, number}' }, 'format it before'],
  [
    'a plural without a category',
    { 'a.count': '{count, plural, zero {a} one {a} two {a} many {a} other {a}} {name}' },
    'no words for {count} “few”',
  ],
])('found: %s', (_, changed, problem) => {
  expect(catalogueProblems(catalogueWith({}))).toEqual([]);
  const problems = catalogueProblems(catalogueWith(changed));
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain('ar/area.json: ');
  expect(problems[0]).toContain(problem);
});

test('English itself is checked: a category it does not have, a key in two areas', () => {
  const problems = catalogueProblems({
    en: { area: { 'a.n': '{n, plural, one {a} few {b} other {c}}' }, second: { 'a.n': 'x' } },
  });
  expect(problems).toEqual([
    'en/second.json: "a.n" is in en/area.json already',
    'en/area.json: "a.n" has words for {n} “few”, which the language does not have',
  ]);
});

function planted(english: object, french: object): string {
  const folder = mkdtempSync(join(tmpdir(), 'widget-messages-'));
  folders.push(folder);
  for (const [language, messages] of Object.entries({ en: english, fr: french })) {
    mkdirSync(join(folder, 'i18n/messages', language), { recursive: true });
    writeFileSync(join(folder, 'i18n/messages', language, 'area.json'), JSON.stringify(messages));
  }
  writeFileSync(
    join(folder, 'main.js'),
    "import fr from './i18n/messages/fr/area.json';\nglobalThis.words = fr;\n",
  );
  return folder;
}

async function bundleOf(folder: string): Promise<string> {
  const bundle = await rolldown({
    input: join(folder, 'main.js'),
    plugins: [messagesPlugin(join(folder, 'i18n/messages'))],
  });
  const { output } = await bundle.generate({ format: 'esm' });
  await bundle.close();
  return output[0].code;
}

test('a build ships compiled messages and fails where one is missing', async () => {
  const whole = planted({ a: 'Pay {amount}' }, { a: 'Payez {amount}' });
  const code = await bundleOf(whole);
  expect(code.replaceAll(/\s/g, '')).toContain('["Payez",["amount"]]');
  const broken = planted({ a: 'Pay {amount}', b: 'Back' }, { a: 'Payez {montant}' });
  await expect(bundleOf(broken)).rejects.toThrow(
    /fr\/area\.json: "a" does not use \{amount\}[\s\S]*uses \{montant\}[\s\S]*"b" is missing/,
  );
});

test('what is missing is filled with English, sorted, for someone to translate', () => {
  const folder = join(planted({ b: 'Back', a: 'Ahead' }, { b: 'Retour', z: 'Vieux' }), 'i18n/messages');
  expect(orderProblems(readCatalogue(folder))).toEqual(['en/area.json: keys are not sorted']);
  fillCatalogue(folder);
  expect(readFileSync(join(folder, 'fr/area.json'), 'utf8')).toBe('{\n  "a": "Ahead",\n  "b": "Retour"\n}\n');
  expect(catalogueProblems(readCatalogue(folder))).toEqual([]);
  expect(orderProblems(readCatalogue(folder))).toEqual([]);
});

test('uses are read from the sources: unused keys, prefixes, arguments that a call forgets', () => {
  const uses = messageUses(
    new Map([
      [
        'one.tsx',
        `export const A = () => <p title={t("a.count", { count: 1 })}>{t(\`failure.\${code}\`)}</p>;`,
      ],
      [
        'two.ts',
        "const LABELS: Record<string, MessageKey> = { x: 'a.hello' }; tIfKnown('nothing.' + code); tIfKnown(code);",
      ],
    ]),
  );
  expect(useProblems({ area: { ...ENGLISH, 'failure.LATE': 'Late' } }, uses)).toEqual([
    'two.ts: tIfKnown is to be given a template that begins with the prefix of its keys',
    '"a.side" is used by no source',
    'two.ts: there are no keys that begin with "nothing."',
    "one.tsx: t('a.count') is not given {name}",
  ]);
});

test('a compiled message says what ICU says', () => {
  const say = (text: string, values: Record<string, string | number>, locale = 'en') =>
    formatMessage(compileMessage(text), values, locale);
  expect(say("It's '{'here'}' <b>", {})).toBe("It's {here} <b>");
  expect(say('{n, plural, =0 {none} one {# order} other {# orders}}', { n: 0 })).toBe('none');
  expect(say('{n, plural, =0 {none} one {# order} other {# orders}}', { n: 1 })).toBe('1 order');
  expect(say('{n, plural, =0 {none} one {# order} other {# orders}}', { n: 12_345 })).toBe('12,345 orders');
  expect(say('{n, plural, offset:1 one {{a} and # other} other {{a} and # others}}', { n: 3, a: 'x' })).toBe(
    'x and 2 others',
  );
  expect(say('{n, selectordinal, one {#st} two {#nd} few {#rd} other {#th}}', { n: 22 })).toBe('22nd');
  expect(say('{s, select, a {A {n, plural, one {#} other {#s}}} other {B}}', { s: 'a', n: 2 })).toBe('A 2s');
  expect(say('{s, select, a {A} other {B}}', { s: 'z' })).toBe('B');
  for (const [n, word] of [
    [0, 'صفر'],
    [1, 'واحد'],
    [2, 'اثنان'],
    [3, '3 طلبات'],
    [11, '11 طلبًا'],
    [100, '100 طلب'],
  ] as const) {
    expect(say(ARABIC['a.count'], { n, count: n, name: '' }, 'ar')).toContain(word);
  }
  expect([...argumentsOf(compileMessage(ENGLISH['a.side']))]).toEqual([
    ['side', 'one of buy, other'],
    ['amount', 'text'],
  ]);
});

test('what is put into a message of the other direction is isolated', () => {
  const message = compileMessage('ادفع {amount} إلى {name}');
  expect(formatMessage(message, { amount: '10 USDC', name: 'علي' }, 'ar')).toBe(
    'ادفع \u206810 USDC\u2069 إلى \u2068علي\u2069',
  );
  expect(formatMessage(compileMessage('Pay {name}'), { name: 'علي' }, 'en')).toBe('Pay \u2068علي\u2069');
  expect(formatMessage(compileMessage('Pay {name}'), { name: 'Ali' }, 'en')).toBe('Pay Ali');
});
