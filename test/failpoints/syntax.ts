import { parseAst } from 'rolldown/parseAst';

/** What is read of a syntax tree here: every node has a type and a place in the text, and the rest is looked up by name. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  // biome-ignore lint/suspicious/noExplicitAny: the shape of a node follows from its type.
  readonly [property: string]: any;
}

export function parseTypeScript(text: string): SyntaxNode {
  return parseAst(text, { lang: 'ts' }) as unknown as SyntaxNode;
}

/** Visits every node, outer ones first, with what surrounds it, outermost first. The surroundings change afterwards. */
export function walk(
  node: SyntaxNode,
  visit: (node: SyntaxNode, around: readonly SyntaxNode[]) => void,
  around: SyntaxNode[] = [],
): void {
  visit(node, around);
  around.push(node);
  for (const key in node) {
    const value = node[key];
    if (typeof value !== 'object' || value === null) continue;
    if (typeof value.type === 'string') walk(value, visit, around);
    else if (Array.isArray(value)) {
      for (const child of value) if (typeof child?.type === 'string') walk(child, visit, around);
    }
  }
  around.pop();
}

export function nodesWhere(node: SyntaxNode, matches: (node: SyntaxNode) => boolean): SyntaxNode[] {
  const found: SyntaxNode[] = [];
  walk(node, (one) => {
    if (matches(one)) found.push(one);
  });
  return found;
}

/** The last name of `a`, `a.b` and `a?.b`. */
export function lastName(node: SyntaxNode | null | undefined): string | undefined {
  if (node?.type === 'Identifier') return node.name as string;
  if (node?.type === 'MemberExpression' && !node.computed) return node.property.name as string;
  if (node?.type === 'ChainExpression' || node?.type === 'TSNonNullExpression')
    return lastName(node.expression);
  return undefined;
}

/** A property of an object literal, by its name. */
export function propertyOf(object: SyntaxNode | undefined, name: string): SyntaxNode | undefined {
  const properties = (object?.properties ?? []) as readonly SyntaxNode[];
  return properties.find(({ key }) => key?.name === name || key?.value === name)?.value;
}

export function isFunction(node: SyntaxNode | null | undefined): boolean {
  return node?.type === 'ArrowFunctionExpression' || node?.type === 'FunctionExpression';
}
