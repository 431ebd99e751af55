import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { type ConfiguredChain, parseChainsFile } from './config/chains-file.ts';
import { type ConfiguredHotWallet, parseHotWalletsFile } from './config/hot-wallets-file.ts';
import { ConfigError } from './config/problems.ts';
import { InvalidValue, MOST_PROCESSES } from './config/values.ts';
import { type Environment, ROLES, type Role, type Variable } from './config/variable.ts';
import { DEPLOY_VARIABLES } from './config/variables/chains.ts';
import { PARTS, VARIABLES } from './config/variables.ts';
import { maskText } from './lib/redaction.ts';

export type { ConfiguredChain } from './config/chains-file.ts';
export { ConfigError } from './config/problems.ts';
export type { Role } from './config/variable.ts';

export type Command = 'serve' | 'migrate';

type Variables = typeof VARIABLES;
type ValueOf<V> =
  V extends Variable<infer T> ? (V extends { readonly default: string | object } ? T : T | undefined) : never;
type Values = { readonly [Key in keyof Variables]: ValueOf<Variables[Key]> };

/** What `contracts:deploy` and `contracts:check` take from the environment. */
export type DeployConfig = {
  readonly [Key in keyof typeof DEPLOY_VARIABLES]: ValueOf<(typeof DEPLOY_VARIABLES)[Key]>;
};

/** The configuration of one process: parsed once, frozen at every depth. */
export interface Config extends Omit<Values, 'apiProcesses'> {
  readonly apiProcesses: number;
  /** `migrate` prepares the database and ends; it has no roles. */
  readonly command: Command;
  /** What this process does. */
  readonly roles: readonly Role[];
  /** The chains of CHAINS_FILE; empty in a sandbox. */
  readonly chains: readonly ConfiguredChain[];
  /** The wallets of HOT_WALLETS_FILE; empty where the service's own key pays. */
  readonly hotWallets: readonly ConfiguredHotWallet[];
  /** Whether PORT was asked for: a port that was not may be exchanged when it is taken. */
  readonly portGiven: boolean;
}

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/**
 * Reads the configuration from environment variables (no `.env` file) and the roles from the command line.
 * Throws one `ConfigError` that lists every problem.
 */
export function loadConfig(
  env: EnvironmentVariables = process.env,
  argv: readonly string[] = process.argv.slice(2),
  readText: (path: string) => string = (path) => readFileSync(path, 'utf8'),
): Config {
  const problems: string[] = [];
  const command = argv.includes(MIGRATE) ? 'migrate' : 'serve';
  const roles = parseRoles(argv, problems);
  const environment = readValue(VARIABLES.environment, env, 'sandbox', roles, problems) ?? 'sandbox';

  const values: Record<string, unknown> = { environment };
  for (const [key, variable] of Object.entries<Variable<unknown>>(VARIABLES)) {
    if (key !== 'environment') values[key] = readValue(variable, env, environment, roles, problems);
  }
  const { chainsFile, hotWalletsFile, databaseUrl, databaseDirectUrl } = values as unknown as Values;
  const serves = command === 'serve';
  const chains = serves && chainsFile !== undefined ? readChains(chainsFile, readText, problems) : [];
  const hotWallets =
    serves && hotWalletsFile !== undefined ? readHotWallets(hotWalletsFile, chains, readText, problems) : [];
  if (!serves && (databaseDirectUrl ?? databaseUrl) === undefined) {
    problems.push(`${MIGRATE} needs DATABASE_URL. A sandbox migrates its own database when it starts.`);
  }

  if (serves) problems.push(...missingCompanions(values, environment), ...missingCore(values, roles));

  if (problems.length > 0) throw new ConfigError(problems);
  // Every variable was read by the parser that its type is inferred from, or there would be a problem.
  const portGiven = (env[VARIABLES.port.name] ?? '').trim() !== '';
  const parsed = values as unknown as Values;
  const apiProcesses = processesOf(parsed);
  return deepFreeze({ ...parsed, apiProcesses, command, roles, chains, hotWallets, portGiven });
}

/** Reads what the commands for contracts need, and nothing else: a deployment may be far from complete by then. */
export function loadDeployConfig(env: EnvironmentVariables = process.env): DeployConfig {
  const problems: string[] = [];
  const values = Object.entries<Variable<unknown>>(DEPLOY_VARIABLES).map(([key, variable]) => [
    key,
    readValue(variable, env, 'production', ROLES, problems),
  ]);
  if (problems.length > 0) throw new ConfigError(problems);
  return deepFreeze(Object.fromEntries(values) as DeployConfig);
}

/** Of DATABASE_POOL_SIZE, for each process that serves the API. */
export const FEWEST_CONNECTIONS = 2;

/** One for each core, as far as the connections go round: a server has a hundred of them unless it was told otherwise. */
function processesOf({ apiProcesses, apiScheduling, databasePoolSize }: Values): number {
  if (apiProcesses !== 'auto') return apiProcesses;
  const served = Math.floor(databasePoolSize / FEWEST_CONNECTIONS);
  const cores = apiScheduling === 'realtime' ? realtimeCores() : availableParallelism();
  return Math.max(1, Math.min(cores, served, MOST_PROCESSES));
}

/** What goes before everything else must not be on every core. */
const realtimeCores = () => availableParallelism() - 1;

function missingCore(values: Readonly<Record<string, unknown>>, roles: readonly Role[]): string[] {
  const { apiScheduling, apiProcesses } = values as Partial<Values>;
  if (apiScheduling !== 'realtime' || !roles.includes('api')) return [];
  const [least, most] = [apiProcesses === 'auto' ? 1 : (apiProcesses ?? 1), realtimeCores()];
  if (least <= most) return [];
  return [
    `API_SCHEDULING=realtime needs a core without a process of the API, of ${most + 1}; API_PROCESSES asks for ${least}.`,
  ];
}

/** What is of no use without others. In a sandbox some of it is not read at all. */
const COMPANIONS: readonly {
  readonly of: keyof Variables;
  readonly needed: readonly (keyof Variables)[];
  readonly inProductionOnly?: boolean;
}[] = [
  { of: 'mailUrl', needed: ['mailFrom'] },
  { of: 'serviceSignerUrl', needed: ['serviceSignerKeyId'], inProductionOnly: true },
  {
    of: 'documentsS3Endpoint',
    needed: ['documentsS3Bucket', 'documentsS3AccessKeyId', 'documentsS3SecretAccessKey'],
  },
  { of: 'sumsubAppToken', needed: ['sumsubSecretKey', 'sumsubWebhookSecret'], inProductionOnly: true },
];

function missingCompanions(values: Readonly<Record<string, unknown>>, environment: Environment): string[] {
  return COMPANIONS.filter(
    ({ of, inProductionOnly }) =>
      values[of] !== undefined && !(inProductionOnly === true && environment === 'sandbox'),
  ).flatMap(({ of, needed }) =>
    needed
      .filter((key) => values[key] === undefined)
      .map((key) => `${VARIABLES[key].name} is needed with ${VARIABLES[of].name}.`),
  );
}

function readValue<T>(
  variable: Variable<T>,
  env: EnvironmentVariables,
  environment: Environment,
  roles: readonly Role[],
  problems: string[],
): T | undefined {
  const { name, type } = variable;
  const given = env[name]?.trim();
  const isSet = given !== undefined && (given !== '' || type.emptyIsValue === true);
  const text = isSet ? given : defaultOf(variable, environment);
  if (text === undefined) {
    const isRead = roles.some((role) => (variable.roles ?? ROLES).includes(role));
    const isReplaced = variable.alternatives?.some((other) => (env[other] ?? '').trim() !== '') ?? false;
    if (variable.requiredInProduction && environment === 'production' && isRead && !isReplaced) {
      problems.push(`${name} is required in production. ${whatFor(variable)}`);
    }
    return undefined;
  }
  try {
    const value = type.parse(text);
    const refusal = variable.refuse?.(value, environment);
    if (refusal === undefined) return value;
    problems.push(`${name} ${refusal}.`);
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    const shown = variable.secret ? '' : `, not ${JSON.stringify(maskText(text.slice(0, 80)))}`;
    problems.push(`${name} ${error.message}${shown}.`);
  }
  return undefined;
}

function defaultOf(variable: Variable<unknown>, environment: Environment): string | undefined {
  return typeof variable.default === 'object' ? variable.default[environment] : variable.default;
}

/** The first sentence of the description, which says what to provide, and an example. */
function whatFor({ name, description, example }: Variable<unknown>): string {
  const purpose = description.split(/(?<=[.;]) /, 1)[0]?.replace(/;$/, '.') ?? '';
  return example === undefined ? purpose : `${purpose} Example: ${name}=${example}`;
}

function readChains(
  path: string,
  readText: (path: string) => string,
  problems: string[],
): readonly ConfiguredChain[] {
  const text = readNamedFile('CHAINS_FILE', path, readText, problems);
  if (text === undefined) return [];
  const result = parseChainsFile(text);
  if (result.problems === undefined) return result.chains;
  problems.push(...result.problems.map((problem) => `CHAINS_FILE (${path}): ${problem}.`));
  return [];
}

function readHotWallets(
  path: string,
  chains: readonly ConfiguredChain[],
  readText: (path: string) => string,
  problems: string[],
): readonly ConfiguredHotWallet[] {
  const text = readNamedFile('HOT_WALLETS_FILE', path, readText, problems);
  if (text === undefined) return [];
  const result = parseHotWalletsFile(
    text,
    chains.map(({ slug }) => slug),
  );
  if (result.problems === undefined) return result.wallets;
  problems.push(...result.problems.map((problem) => `HOT_WALLETS_FILE (${path}): ${problem}.`));
  return [];
}

function readNamedFile(
  variable: string,
  path: string,
  readText: (path: string) => string,
  problems: string[],
): string | undefined {
  try {
    return readText(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${error.code})` : '';
    problems.push(`${variable} names ${JSON.stringify(path)}, which cannot be read${code}.`);
    return undefined;
  }
}

function parseRoles(argv: readonly string[], problems: string[]): readonly Role[] {
  const known = [...ROLES, MIGRATE];
  for (const argument of argv.filter((candidate) => !known.includes(candidate) && !isHelp(candidate))) {
    problems.push(
      `${JSON.stringify(argument)} is not an argument. There are: ${ROLES.join(', ')} (none means both), ${MIGRATE} and --help.`,
    );
  }
  const named = ROLES.filter((role) => argv.includes(role));
  if (!argv.includes(MIGRATE)) return named.length === 0 ? ROLES : named;
  if (named.length > 0)
    problems.push(`${MIGRATE} ends when it is done: start ${named.join(' and ')} afterwards.`);
  return [];
}

const MIGRATE = 'migrate';

const isHelp = (argument: string) => argument === '--help' || argument === '-h';

/** Whether the command line asks for the usage text instead of a start. */
export function wantsHelp(argv: readonly string[] = process.argv.slice(2)): boolean {
  return argv.some(isHelp);
}

/** Whether `npm start` started this process, and so is its parent. */
export function startedByNpm(env: EnvironmentVariables = process.env): boolean {
  return env.npm_lifecycle_event === 'start';
}

/** What `--help` prints. */
export function usage(): string {
  const width = Math.max(...Object.values(VARIABLES).map(({ name }) => name.length));
  const lineOf = (variable: Variable<unknown>) => {
    const fallback = typeof variable.default === 'object' ? variable.default.sandbox : variable.default;
    const note = variable.requiredInProduction
      ? ' (required in production)'
      : fallback
        ? ` (${fallback})`
        : '';
    return `  ${variable.name.padEnd(width)}  ${variable.description.replaceAll('`', '')}${note}`;
  };
  return [
    'Usage: npm start [-- api | worker | migrate]',
    '',
    'Starts the API and the worker, or the one that is named. Without any setting it is a sandbox.',
    'migrate applies what the database lacks, says what it applied, and ends; it needs DATABASE_URL alone.',
    'Other variables that are set must be right for it too.',
    '',
    'Environment variables, with what a sandbox takes when they are not set:',
    ...PARTS.flatMap(({ title, variables }) => ['', title, ...Object.values(variables).map(lineOf)]),
    '',
  ].join('\n');
}

/** The address partners use. A sandbox that does not set one is reached at the port it got, which may be any free one. */
export function publicBaseUrlOf(config: Pick<Config, 'publicBaseUrl'>, listeningPort: number): string {
  return config.publicBaseUrl ?? `http://localhost:${listeningPort}`;
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}
