import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildWidget, sizesOf, sourceFiles, type WidgetBuild } from './build.ts';
import { minifyCss, openApplication } from './bundle.ts';

const root = join(import.meta.dirname, '../..');
const out = mkdtempSync(join(tmpdir(), 'widget-build-'));
afterAll(() => rmSync(out, { recursive: true, force: true }));

let built: WidgetBuild;
beforeAll(async () => {
  built = await buildWidget(join(out, 'first'));
});

const filesOf = ({ folder }: WidgetBuild) =>
  Object.fromEntries(
    readdirSync(folder)
      .toSorted()
      .map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  );

test('the loader, the first load and the whole stay small', () => {
  const { loader, firstLoad, all, files } = sizesOf(built);
  expect(files[built.script], 'the script is measured').toBeGreaterThan(1_000);
  expect(loader).toBeLessThanOrEqual(6_000);
  expect(firstLoad).toBeLessThanOrEqual(60_000);
  // English comes with the script; another language is fetched as well before the first screen.
  for (const words of Object.values(built.languages)) {
    expect(firstLoad + (files[words] ?? Number.NaN), words).toBeLessThanOrEqual(60_000);
  }
  expect(all).toBeLessThanOrEqual(110_000);
});

test('the same sources give the same bytes, and are built once', async () => {
  const again = await buildWidget(join(out, 'second'));
  expect(filesOf(again)).toEqual(filesOf(built));
  const once = readdirSync(join(out, 'first'));
  expect(await buildWidget(join(out, 'first'))).toEqual(built);
  expect(readdirSync(join(out, 'first'))).toEqual(once);
});

test('nothing that is served names a path of this machine, and there are no source maps', () => {
  for (const [name, content] of Object.entries(filesOf(built))) {
    expect(name).toMatch(/\.(js|css|json)$/);
    expect(content.includes(root), name).toBe(false);
    expect(content.includes('sourceMappingURL'), name).toBe(false);
  }
});

test('every name in the manifest is a file; languages are chunks of their own; the parser is not shipped', () => {
  const { script, styles, preload, languages, loader, playground } = built;
  const files = filesOf(built);
  const named = [
    script,
    styles,
    loader,
    playground.script,
    playground.styles,
    ...preload,
    ...Object.values(languages),
  ];
  for (const name of named) expect(Object.keys(files)).toContain(name);
  expect(Object.keys(languages)).toEqual(['ar', 'es', 'fr', 'hi', 'pt', 'sw', 'zh']);
  expect(preload.some((name) => Object.values(languages).includes(name))).toBe(false);
  // What the script imports at once is in the list, at any depth.
  for (const name of [script, ...preload]) {
    for (const [, imported = ''] of (files[name] ?? '').matchAll(/(?:from|import)\s*["']\.\/([^"']+)["']/g)) {
      expect(preload).toContain(imported);
    }
  }
  expect(Object.values(files).some((content) => content.includes('EXPECT_ARGUMENT_CLOSING_BRACE'))).toBe(
    false,
  );
});

test('a change of any module of the bundle gives another build', async () => {
  const bundle = await openApplication();
  const { output } = await bundle.generate({ format: 'esm' });
  await bundle.close();
  const modules = output
    .flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
    .filter((id) => id.startsWith(root))
    .map((id) => relative(root, id).replaceAll('\\', '/'))
    .filter((id) => !id.includes('node_modules/'));
  const sources = new Set(sourceFiles());
  expect(modules).toContain('apps/widget/src/main.tsx');
  expect(modules.filter((id) => !sources.has(id))).toEqual([]);
  expect([...sources].some((file) => file.endsWith('.test.ts'))).toBe(false);
});

test('styles are minified without touching what is quoted', () => {
  expect(minifyCss("/* don't */ a > b ,\n c:hover {\n  color : red;\n  content: '/* ; */  x';\n}\n")).toBe(
    "a > b,c:hover{color : red;content: '/* ; */  x'}",
  );
  expect(minifyCss('@media (width < 480px) and (min-height: 1px) { a { margin: calc(1px + 2px) } }')).toBe(
    '@media (width < 480px) and (min-height: 1px){a{margin: calc(1px + 2px)}}',
  );
});

/** Newer than the oldest browsers that the guide names; a bundler does not write these in another way. */
const TOO_NEW = [
  /\bAbortSignal\.any\b/,
  /\bURL\.(?:canParse|parse)\b/,
  /\bPromise\.(?:withResolvers|try)\b/,
  /\b(?:Object|Map)\.groupBy\b/,
  /\bArray\.fromAsync\b/,
  /\bIterator\.from\b/,
  /\bRegExp\.escape\b/,
  /\bTemporal\.|\bIntl\.DurationFormat\b/,
  /\.(?:isSubsetOf|isSupersetOf|isDisjointFrom|symmetricDifference|intersection|union)\(/,
  /\.(?:values|keys|entries)\(\)\.(?:map|filter|some|every|find|reduce|forEach|toArray|take|drop|flatMap)\(/,
  /\.(?:checkVisibility|showPopover|startViewTransition)\(/,
  /\brequestIdleCallback\b|\bscheduler\.(?:yield|postTask)\b/,
];
const tooNew = (script: string) => TOO_NEW.flatMap((pattern) => pattern.exec(script)?.[0] ?? []);

test('scripts call nothing that the oldest browsers do not have', () => {
  for (const planted of [
    'signal:AbortSignal.any([a,b])',
    'URL.canParse(t)?1:2',
    'let{promise:p}=Promise.withResolvers()',
    'Object.groupBy(a,b)',
    'm.values().map(f)',
    'a.union(b)',
  ]) {
    expect(tooNew(planted), planted).toHaveLength(1);
  }
  expect(tooNew('AbortSignal.timeout(1);[...m.values()].map(f);Object.values(o).map(f)')).toEqual([]);
  const scripts = Object.entries(filesOf(built)).filter(([name]) => name.endsWith('.js'));
  expect(scripts.flatMap(([name, script]) => tooNew(script).map((found) => `${name}: ${found}`))).toEqual([]);
});

/** What names a side of the screen is on the wrong one in Arabic. */
const PHYSICAL =
  /(?:^|[;{\s])(?:(?:margin|padding|border|inset|scroll-margin|scroll-padding)-(?:left|right)(?:-[\w-]+)?|border-(?:top|bottom)-(?:left|right)-radius|left|right)\s*:|(?:text-align|float|clear|caption-side)\s*:\s*(?:left|right)\b/;

function physicalLines(css: string): string[] {
  const text = css.replaceAll(/\/\*[\s\S]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, ' '));
  return text
    .split('\n')
    .flatMap((line, index) => (PHYSICAL.test(line) ? [`${index + 1}: ${line.trim()}`] : []));
}

test('styles name no side of the screen: they work from right to left too', () => {
  for (const planted of [
    'margin-left: 1px',
    'right: 0',
    'text-align: left',
    'border-top-left-radius: 2px',
    'padding-right:1px',
    'float: right',
    'border-left-color: red',
  ]) {
    expect(physicalLines(`a { ${planted}; }`), planted).toHaveLength(1);
  }
  expect(
    physicalLines('a { margin-inline-start: 1px; text-align: start; /* left: 0 */ --right-hand: 1; }'),
  ).toEqual([]);
  const styles = sourceFiles().filter((file) => file.endsWith('.css'));
  expect(styles.length).toBeGreaterThan(0);
  const found = styles.flatMap((file) =>
    physicalLines(readFileSync(join(root, file), 'utf8')).map((line) => `${file}:${line}`),
  );
  expect(found).toEqual([]);
});
