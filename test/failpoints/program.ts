import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isWrite } from './common.ts';
import { lastName, nodesWhere, parseTypeScript, type SyntaxNode, walk } from './syntax.ts';

/** What is read from all files of the gateway before one is searched for failpoints. */
export interface Program {
  readonly files: ReadonlyMap<string, { readonly text: string; readonly tree: SyntaxNode }>;
  /** Declared SQL statements, by the name of the constant: whether they write. */
  readonly statements: ReadonlyMap<string, boolean>;
  /** Methods of ports to other programs, by the names under which the program holds the port. */
  readonly portMethods: ReadonlyMap<string, ReadonlySet<string>>;
}

export const GATEWAY = fileURLToPath(new URL('../../apps/gateway/src/', import.meta.url));

/** No part of a running gateway: tests and their tools, the surroundings of a sandbox, commands of an operator. */
const ELSEWHERE = /\.test\.ts$|(^|\/)testing\/|^(local|chain\/(contracts|inspect))\/|^deploy-contracts\.ts$/;

/** Ports to other programs, and where they are declared. A method that answers later is a call. */
const PORTS: Readonly<Record<string, string>> = {
  BankingPort: 'ports/banking.ts',
  DocumentStore: 'ports/documents.ts',
  KycProvider: 'ports/kyc-provider.ts',
  MailPort: 'ports/mail.ts',
  ScreeningPort: 'ports/name-screening.ts',
  WalletScreeningPort: 'ports/wallet-screening.ts',
  OfferReservations: 'ports/offers.ts',
  BridgePort: 'chain/bridge/bridge.ts',
  Signer: 'chain/signers/keystore-signer.ts',
  NameResolver: 'lib/name-resolver.ts',
  WebhookSender: 'features/webhooks/webhook-sender.ts',
};

export function readProgram(root: string = GATEWAY): Program {
  const paths = globSync('**/*.ts', { cwd: root }).filter((path) => !ELSEWHERE.test(path));
  const files = new Map(
    paths.toSorted().map((path) => {
      const text = readFileSync(join(root, path), 'utf8');
      return [path, { text, tree: parseTypeScript(text) }] as const;
    }),
  );
  return { files, statements: statementsOf(files), portMethods: portMethodsOf(files) };
}

function statementsOf(files: Program['files']): Program['statements'] {
  const statements = new Map<string, boolean>();
  for (const { text, tree } of files.values()) {
    const declared = declarationsOf(tree);
    walk(tree, ({ type, id, init }) => {
      if (type !== 'VariableDeclarator' || init?.type !== 'CallExpression') return;
      if (!['statement', 'plannedOnce'].includes(lastName(init.callee) ?? '')) return;
      // Of two with one name, either may be meant.
      statements.set(
        id.name,
        statements.get(id.name) === true || isWrite(composedText(init, text, declared)),
      );
    });
  }
  // Under the names that importers give them, too.
  for (const { tree } of files.values()) {
    for (const { imported, local } of nodesWhere(tree, ({ type }) => type === 'ImportSpecifier')) {
      const declared = statements.get(imported.name);
      if (declared !== undefined && imported.name !== local.name) statements.set(local.name, declared);
    }
  }
  return statements;
}

function declarationsOf(tree: SyntaxNode): ReadonlyMap<string, SyntaxNode> {
  const declaring = ({ type, id }: SyntaxNode) =>
    (type === 'VariableDeclarator' || type === 'FunctionDeclaration') && id?.type === 'Identifier';
  return new Map(nodesWhere(tree, declaring).map((node) => [node.id.name, node]));
}

/** The text of a node and of all that it is composed of in the same file: SQL is often put together of parts. */
function composedText(
  node: SyntaxNode,
  text: string,
  declared: ReadonlyMap<string, SyntaxNode>,
  seen = new Set<SyntaxNode>(),
): string {
  const parts = nodesWhere(node, ({ type }) => type === 'Identifier').flatMap(
    ({ name }) => declared.get(name) ?? [],
  );
  const fresh = parts.filter((part) => !seen.has(part) && seen.add(part));
  return [
    text.slice(node.start, node.end),
    ...fresh.map((part) => composedText(part, text, declared, seen)),
  ].join('\n');
}

function portMethodsOf(files: Program['files']): Program['portMethods'] {
  const methods = new Map(Object.entries(PORTS).map(([port, path]) => [port, methodsOf(files, port, path)]));
  const byReceiver = new Map<string, Set<string>>();
  for (const { tree } of files.values()) {
    walk(tree, (node) => {
      const annotated =
        node.type === 'TSPropertySignature' ? node.key : node.type === 'Identifier' ? node : undefined;
      if (!node.typeAnnotation || annotated?.name === undefined) return;
      for (const { typeName } of nodesWhere(node.typeAnnotation, ({ type }) => type === 'TSTypeReference')) {
        for (const method of methods.get(typeName.name) ?? []) {
          byReceiver.set(annotated.name, (byReceiver.get(annotated.name) ?? new Set()).add(method));
        }
      }
    });
  }
  return byReceiver;
}

function methodsOf(files: Program['files'], port: string, path: string): readonly string[] {
  const tree = files.get(path)?.tree;
  const [declared] =
    tree === undefined
      ? []
      : nodesWhere(tree, (node) => node.type === 'TSInterfaceDeclaration' && node.id.name === port);
  if (declared === undefined) throw new Error(`${path} declares no port ${port}`);
  return declared.body.body.filter(answersLater).map(({ key }: SyntaxNode) => key.name);
}

function answersLater({ type, returnType, key }: SyntaxNode): boolean {
  const answers = returnType?.typeAnnotation?.typeName?.name;
  return type === 'TSMethodSignature' && answers === 'Promise' && key.name !== 'close';
}
