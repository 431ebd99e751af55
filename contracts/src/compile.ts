import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import solc from 'solc';

/**
 * Turns Solidity sources and published build outputs into the text of the generated modules. Nothing is written
 * here, so a test can compare a fresh compile with what is committed.
 */

const require = createRequire(import.meta.url);

interface Artifact {
  abi: readonly unknown[];
  bytecode: string;
  /** What the constructor leaves on chain, with zeros where it writes immutables. */
  runtimeBytecode: string;
  /** Where in it each immutable stands, in bytes; every one is a 32-byte word. */
  immutables: Record<string, number[]>;
}

interface SolcMessage {
  severity: 'error' | 'warning' | 'info';
  formattedMessage: string;
  sourceLocation?: { file: string };
}

interface SolcContract {
  abi: unknown[];
  evm: {
    bytecode: { object: string };
    deployedBytecode: {
      object: string;
      immutableReferences: Record<string, { start: number; length: number }[]>;
    };
  };
}

interface SolcOutput {
  errors?: SolcMessage[];
  contracts: Record<string, Record<string, SolcContract>>;
  sources: Record<string, { ast: unknown }>;
}

/** Contracts compiled here: Solidity unit (a path in this folder, or an npm path) by contract name. */
const compiledUnits = {
  CausewayRouter: 'src/CausewayRouter.sol',
  TestToken: 'src/test-tokens/TestToken.sol',
  TestTether: 'src/test-tokens/TestTether.sol',
  FeeOnTransferToken: 'src/test-tokens/FeeOnTransferToken.sol',
  ReenteringToken: 'src/test-tokens/ReenteringToken.sol',
  EventFlood: 'src/test-tokens/EventFlood.sol',
  ERC2771Forwarder: '@openzeppelin/contracts/metatx/ERC2771Forwarder.sol',
} as const;

/**
 * Safe's contracts are taken as published and not recompiled: the audited deployments on public chains have exactly
 * this bytecode, and escrow addresses depend on it.
 */
const publishedArtifacts = {
  Safe: 'Safe.sol/Safe.json',
  SafeProxy: 'proxies/SafeProxy.sol/SafeProxy.json',
  SafeProxyFactory: 'proxies/SafeProxyFactory.sol/SafeProxyFactory.json',
  MultiSendCallOnly: 'libraries/MultiSendCallOnly.sol/MultiSendCallOnly.json',
  CompatibilityFallbackHandler: 'handler/CompatibilityFallbackHandler.sol/CompatibilityFallbackHandler.json',
} as const;

const compilerSettings = {
  optimizer: { enabled: true, runs: 1000 },
  evmVersion: 'cancun',
  // Without the source hash a comment does not change the bytecode.
  metadata: { bytecodeHash: 'none' },
  outputSelection: {
    '*': {
      '*': [
        'abi',
        'evm.bytecode.object',
        'evm.deployedBytecode.object',
        'evm.deployedBytecode.immutableReferences',
      ],
      // The compiler names immutables by the number of their declaration only.
      '': ['ast'],
    },
  },
};

/** The text of every generated module by file name. */
export async function renderGeneratedModules(): Promise<Map<string, string>> {
  const modules = new Map<string, string>();
  const artifacts = { ...(await compileOurs()), ...(await readPublished()) };
  for (const [name, artifact] of Object.entries(artifacts)) {
    modules.set(`${kebabCase(name)}.ts`, renderModule(name, artifact));
  }
  return modules;
}

async function compileOurs(): Promise<Record<string, Artifact>> {
  const sources = await loadWithImports(Object.values(compiledUnits));
  const output: SolcOutput = JSON.parse(
    solc.compile(JSON.stringify({ language: 'Solidity', sources, settings: compilerSettings })),
  );
  // Warnings about our own sources fail the build; those inside audited libraries are their authors' decisions.
  const messages = (output.errors ?? []).filter(
    (message) => message.severity === 'error' || message.sourceLocation?.file.startsWith('src/'),
  );
  if (messages.length > 0) {
    throw new Error(messages.map((message) => message.formattedMessage).join('\n'));
  }
  const variableNames = new Map<string, string>();
  for (const { ast } of Object.values(output.sources)) collectVariableNames(ast, variableNames);
  const artifacts: Record<string, Artifact> = {};
  for (const [name, unit] of Object.entries(compiledUnits)) {
    const contract = output.contracts[unit]?.[name];
    if (contract === undefined) throw new Error(`${unit} does not define ${name}`);
    const { bytecode, deployedBytecode } = contract.evm;
    const immutables = Object.entries(deployedBytecode.immutableReferences).map(([id, places]) => {
      const variable = variableNames.get(id);
      if (variable === undefined) throw new Error(`${name} has an immutable that nothing declares`);
      if (places.some(({ length }) => length !== 32)) throw new Error(`${variable} is not a word`);
      return [variable, places.map(({ start }) => start)] as const;
    });
    artifacts[name] = {
      abi: contract.abi,
      bytecode: `0x${bytecode.object}`,
      runtimeBytecode: `0x${deployedBytecode.object}`,
      immutables: Object.fromEntries(immutables.sort(([left], [right]) => (left < right ? -1 : 1))),
    };
  }
  return artifacts;
}

function collectVariableNames(node: unknown, names: Map<string, string>): void {
  if (typeof node !== 'object' || node === null) return;
  const { nodeType, id, name } = node as { nodeType?: string; id?: number; name?: string };
  if (nodeType === 'VariableDeclaration' && name !== undefined) names.set(String(id), name);
  for (const child of Object.values(node)) collectVariableNames(child, names);
}

/** All sources are read up front, so the compiler itself never touches the file system. */
async function loadWithImports(entryUnits: readonly string[]): Promise<Record<string, { content: string }>> {
  const sources: Record<string, { content: string }> = {};
  const pending = [...entryUnits];
  for (let unit = pending.pop(); unit !== undefined; unit = pending.pop()) {
    if (sources[unit] !== undefined) continue;
    const content = await readFile(locateUnit(unit), 'utf8');
    sources[unit] = { content };
    for (const [, imported] of content.matchAll(/^import\s(?:[^"';]*\sfrom\s)?["']([^"']+)["'];/gm)) {
      if (imported !== undefined) pending.push(resolveImport(imported, unit));
    }
  }
  return sources;
}

function resolveImport(imported: string, importingUnit: string): string {
  if (!imported.startsWith('.')) return imported;
  return new URL(imported, `unit:///${importingUnit}`).pathname.slice(1);
}

function locateUnit(unit: string): string | URL {
  return unit.startsWith('@') ? require.resolve(unit) : new URL(`../${unit}`, import.meta.url);
}

async function readPublished(): Promise<Record<string, Artifact>> {
  const artifacts: Record<string, Artifact> = {};
  for (const [name, path] of Object.entries(publishedArtifacts)) {
    const file = require.resolve(`@safe-global/safe-contracts/build/artifacts/contracts/${path}`);
    const {
      abi,
      bytecode,
      deployedBytecode,
    }: { abi: unknown[]; bytecode: string; deployedBytecode: string } = JSON.parse(
      await readFile(file, 'utf8'),
    );
    // None of these has immutables; a test compares what they leave on a chain.
    artifacts[name] = { abi, bytecode, runtimeBytecode: deployedBytecode, immutables: {} };
  }
  return artifacts;
}

function renderModule(name: string, artifact: Artifact): string {
  return [
    `// ${name}: generated by contracts/src/build.ts, not edited by hand.`,
    '',
    `export const abi = ${JSON.stringify(artifact.abi, null, 2)} as const;`,
    '',
    `export const bytecode = '${artifact.bytecode}' as const;`,
    '',
    '/** What the constructor leaves on chain, with zeros where it writes immutables. */',
    `export const runtimeBytecode = '${artifact.runtimeBytecode}' as const;`,
    '',
    '/** Where in it each immutable stands, in bytes; every one is a 32-byte word. */',
    `export const immutables = ${JSON.stringify(artifact.immutables)} as const;`,
    '',
  ].join('\n');
}

function kebabCase(name: string): string {
  return name
    .replace(/([a-z])([A-Z])/g, '$1-$2')
    .replace(/([0-9])([A-Z])/g, '$1-$2')
    .toLowerCase();
}
