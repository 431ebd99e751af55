import { ALIASES, METHODS, NOT_CALLED } from '../../scripts/sdk/names.ts';
import type { Program } from './program.ts';
import { isFunction, lastName, nodesWhere, propertyOf, type SyntaxNode, walk } from './syntax.ts';

/**
 * Where the gateway commits and where it calls out, read from its syntax trees:
 *   commit  a unit of work, a transaction that writes, or one statement that writes;
 *   call    a method of a port to another program: bank, chain node, receiver of webhooks and so on.
 * A site is named by file, function and what it does, so that a change elsewhere in a file does not rename it. Where one
 * piece of code commits for many callers (a route's transaction, the settling of an intent), each of them is a site.
 */
export interface Site {
  readonly name: string;
  readonly kind: 'commit' | 'call';
}

/** A site in the text of a file: whose call it is. */
export interface PlacedSite {
  /** Or what the name consists of when the code runs. */
  readonly name: string | { readonly prefix: string; readonly key: string };
  readonly kind: Site['kind'];
  readonly callee: SyntaxNode;
}

/** Every operation of the API, by its id. */
const OPERATIONS = new Set([METHODS, ALIASES, NOT_CALLED].flatMap(Object.keys));

/** One piece of code that commits for many: what it calls, and what tells them apart when it runs. */
const SHARED = [
  { file: 'http/route-runs.ts', callee: 'perform', prefix: 'route ', key: 'spec.operationId' },
  { file: 'engine/intent-worker.ts', callee: 'writeWith', prefix: 'effect ', key: 'intent.kind' },
] as const;

/** They carry the transactions of all others, which are sites themselves. */
const CARRIERS = ['engine/unit-of-work.ts', 'db/database.ts', 'http/route-runs.ts'];

/** Constants that hold reading statements to choose from. One that wrote would be met outside of any site, and reported. */
const READ_CHOICES = [
  'SEARCHES',
  'READERS',
  'ordersOfUser',
  'list',
  'reader',
  'listPartners',
  'listVendors',
  'ahead',
];

/** Where `client` is the client of a chain's nodes, whose methods are a library's. */
const ASKS_NODES = /^(chain|features\/orders)\//;
/** Layers that call no other program; names of ports mean something else there. */
const CALLS_NOBODY = /^(db|http|lib)\//;

/** The sites of one file, in the order of its text. */
export function sitesIn(path: string, program: Program): PlacedSite[] {
  const file = program.files.get(path);
  if (file === undefined) return [];
  const counts = new Map<string, number>();
  const sites: PlacedSite[] = [];
  walk(file.tree, (node, around) => {
    if (node.type !== 'CallExpression') return;
    const { callee } = node;
    const shared = SHARED.find((one) => one.file === path && one.callee === lastName(callee));
    if (shared !== undefined) {
      sites.push({ name: shared, kind: 'commit', callee });
      return;
    }
    const commit = CARRIERS.includes(path) ? undefined : commitAt(node, file.tree, program);
    const call = CALLS_NOBODY.test(path) ? undefined : callAt(path, node, program);
    const does = commit ?? call;
    if (does === undefined) return;
    const base = `${path} ${ownerOf(around)}: ${does}`;
    const count = (counts.get(base) ?? 0) + 1;
    counts.set(base, count);
    const name = count === 1 ? base : `${base} (${count})`;
    sites.push({ name, kind: commit === undefined ? 'call' : 'commit', callee });
  });
  return sites;
}

function commitAt(node: SyntaxNode, tree: SyntaxNode, { statements }: Program): string | undefined {
  const { callee, arguments: args } = node;
  const name = lastName(callee);
  if (callee.type === 'Identifier' && name === 'unitOfWork') return 'unit of work';
  if (callee.type !== 'MemberExpression' || lastName(callee.object) !== 'db') return undefined;
  if (name === 'transaction') return onlyReads(args[1], statements) ? undefined : 'transaction';
  if (name !== 'query') return undefined;
  const own = lastName(args[1]);
  if (own !== undefined && statements.has(own)) return statements.get(own) ? own : undefined;
  if (
    nodesWhere(args[1], ({ type, name: one }) => type === 'Identifier' && READ_CHOICES.includes(one)).length >
    0
  )
    return undefined;
  const chosen = statementsNamed(args[1], tree, statements);
  const writes = chosen.filter((one) => statements.get(one));
  // One that is not found here is handed in, and may write.
  return chosen.length > 0 && writes.length === 0 ? undefined : writes.join(' or ') || 'a statement';
}

/** Statements that an expression may choose from, also where it names a constant of the same file. */
function statementsNamed(node: SyntaxNode, tree: SyntaxNode, statements: Program['statements']): string[] {
  const names = nodesWhere(node, ({ type }) => type === 'Identifier').map(({ name }) => name as string);
  const direct = names.filter((name) => statements.has(name));
  if (direct.length > 0) return direct;
  const declared = nodesWhere(
    tree,
    ({ type, id }) => type === 'VariableDeclarator' && names.includes(id.name),
  );
  return declared.flatMap(({ init }) =>
    init === null
      ? []
      : nodesWhere(init, ({ type, name }) => type === 'Identifier' && statements.has(name)).map(
          ({ name }) => name as string,
        ),
  );
}

/** A transaction for the sake of one view: it hands its connection to no other function, and its statements read. */
function onlyReads(work: SyntaxNode | undefined, statements: Program['statements']): boolean {
  const connection = lastName(work?.params?.[0]);
  if (work === undefined || connection === undefined) return false;
  const uses = nodesWhere(work.body, ({ type, name }) => type === 'Identifier' && name === connection).length;
  const queries = nodesWhere(
    work.body,
    ({ type, callee }) =>
      type === 'CallExpression' &&
      callee.type === 'MemberExpression' &&
      lastName(callee.object) === connection,
  );
  const named = queries
    .flatMap(({ arguments: args }) => args as SyntaxNode[])
    .flatMap((one) => [lastName(one), lastName(one.object)].filter((name) => name !== undefined).slice(-1))
    .filter((name) => statements.has(name) || READ_CHOICES.includes(name));
  return (
    uses === queries.length && named.length >= queries.length && named.every((name) => !statements.get(name))
  );
}

function callAt(path: string, { callee }: SyntaxNode, { portMethods }: Program): string | undefined {
  if (callee.type === 'Identifier') return callee.name === 'fetch' ? 'fetch' : undefined;
  if (callee.type !== 'MemberExpression') return undefined;
  const [receiver, method] = [lastName(callee.object), lastName(callee)];
  if (receiver === undefined || method === undefined) return undefined;
  if (receiver === 'client')
    return ASKS_NODES.test(path) && method !== 'extend' ? `client.${method}` : undefined;
  return portMethods.get(receiver)?.has(method) ? `${receiver}.${method}` : undefined;
}

/** The operation that a route serves, else the innermost function with a name. */
function ownerOf(around: readonly SyntaxNode[]): string {
  for (const node of around.toReversed()) {
    const { type, id, init, key, value } = node;
    if (type === 'FunctionDeclaration' && id) return id.name;
    if (type === 'VariableDeclarator' && isFunction(init)) return id.name;
    if (type === 'Property' && isFunction(value) && key.name !== 'handle') return key.name ?? key.value;
    const operation = type === 'ObjectExpression' ? operationOf(node) : undefined;
    if (operation !== undefined) return operation;
  }
  return 'module';
}

/** What a declared route serves; one of the console says it by `...consoleRoute('signIn')`. */
function operationOf(declaration: SyntaxNode): string | undefined {
  const spread = (declaration.properties as readonly SyntaxNode[]).find(
    ({ type, argument }) => type === 'SpreadElement' && lastName(argument.callee) === 'consoleRoute',
  );
  return propertyOf(declaration, 'operationId')?.value ?? spread?.argument.arguments[0]?.value;
}

/** All sites of the program, sorted by name. */
export function listSites(program: Program): Site[] {
  const own = [...program.files.keys()].flatMap((path) =>
    sitesIn(path, program).flatMap(({ name, kind }) => (typeof name === 'string' ? [{ name, kind }] : [])),
  );
  const served = [...routesThatWrite(program), ...effectKinds(program)];
  return [...own, ...served.map((name): Site => ({ name, kind: 'commit' }))].toSorted((one, other) =>
    one.name < other.name ? -1 : 1,
  );
}

const IN_ONE_TRANSACTION = ['unit', 'statement'];

/** Operations whose route is declared with a transaction; those of a shared declaration are named where it is used. */
function routesThatWrite({ files }: Program): string[] {
  return [...files].flatMap(([path, { tree }]) => {
    const writing = declaredIn(tree).filter((node) =>
      IN_ONE_TRANSACTION.includes(propertyOf(node, 'transaction')?.value),
    );
    const shares = writing.some((node) => operationsIn(propertyOf(node, 'operationId')).length === 0);
    const users = shares ? [tree, ...importersOf(path, files)] : [];
    const sharing = users.flatMap((user) => {
      const named = new Set(
        declaredIn(user).flatMap((node) => operationsIn(propertyOf(node, 'operationId'))),
      );
      return operationsIn(user).filter((operation) => !named.has(operation));
    });
    const writes = writing.flatMap((node) => operationsIn(propertyOf(node, 'operationId')));
    return [...new Set([...writes, ...sharing])].map((operation) => `route ${operation}`);
  });
}

function declaredIn(tree: SyntaxNode): SyntaxNode[] {
  return nodesWhere(
    tree,
    (node) => node.type === 'ObjectExpression' && propertyOf(node, 'transaction') !== undefined,
  );
}

/** Routes of the same folder that use what this file declares. */
function importersOf(path: string, files: Program['files']): SyntaxNode[] {
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  const source = `./${path.slice(folder.length)}`;
  return [...files].flatMap(([other, { tree }]) => {
    const isNear = other.endsWith('.routes.ts') && other.startsWith(folder);
    const imports = ({ type, source: from }: SyntaxNode) =>
      type === 'ImportDeclaration' && from.value === source;
    return isNear && nodesWhere(tree, imports).length > 0 ? [tree] : [];
  });
}

function operationsIn(node: SyntaxNode | undefined): string[] {
  if (node === undefined) return [];
  const literals = nodesWhere(node, ({ type, value }) => type === 'Literal' && OPERATIONS.has(value));
  return [...new Set(literals.map(({ value }) => value as string))];
}

function effectKinds({ files }: Program): string[] {
  const tree = files.get('engine/effects.ts')?.tree;
  const [registry] =
    tree === undefined
      ? []
      : nodesWhere(tree, ({ type, id }) => type === 'VariableDeclarator' && id.name === 'EFFECTS');
  const [entries] =
    registry === undefined ? [] : nodesWhere(registry.init, ({ type }) => type === 'ObjectExpression');
  if (entries === undefined) throw new Error('engine/effects.ts declares no EFFECTS');
  return entries.properties.map(({ key }: SyntaxNode) => `effect ${key.value ?? key.name}`);
}
