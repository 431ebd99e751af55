import { writeFileSync } from 'node:fs';
import { ROLES, type Variable } from '../../apps/gateway/src/config/variable.ts';
import { DEPLOY_VARIABLES } from '../../apps/gateway/src/config/variables/chains.ts';
import { PARTS } from '../../apps/gateway/src/config/variables.ts';

const OUTPUT = new URL('../../docs/reference/config.md', import.meta.url);

const INTRODUCTION = `# Configuration

Generated from \`apps/gateway/src/config/variables\` by \`node scripts/docs/config.ts\`; do not edit.

Everything is set through environment variables; a \`.env\` file is not read. They are read once, when a process starts. If
anything is wrong, the process lists every problem and does not start; what is wrong with the keystores and sanctions lists that
they name comes as one list too, before the database is touched. A variable that is set to nothing counts as not set, except where
the type says otherwise.

Without any variable, \`npm start\` is a sandbox. With \`CAUSEWAY_ENV=production\` the values of a sandbox are refused: the
embedded database, an \`http\` address, webhooks to the machine itself, publicly known or guessable keys.

The command line names what a process does: \`npm start -- api\`, \`npm start -- worker\`, or nothing for both. Any number of
processes can share one database. \`npm start -- migrate\` applies what the database lacks and ends; it needs \`DATABASE_URL\`
(and \`DATABASE_DIRECT_URL\` behind a pooler), and refuses other variables that are set wrongly. \`npm start -- --help\` prints a short form of this page.
`;

const CHAINS_FILE = `## Chains file

\`CHAINS_FILE\` names a JSON file with one entry for each chain. \`npm run contracts:deploy\` writes it, \`npm run contracts:check\` compares it
with the chains:

\`\`\`json
[
  {
    "slug": "base-mainnet",
    "chain_id": 8453,
    "rpc_urls": ["https://node.example.com/your-key"],
    "public_rpc_url": "https://mainnet.base.org",
    "confirmations": 12,
    "gas": { "max_fee_gwei": "20", "max_tip_gwei": "0.5" },
    "contracts": {
      "safe_singleton": "0x…",
      "safe_proxy_factory": "0x…",
      "multi_send_call_only": "0x…",
      "fallback_handler": "0x…",
      "forwarder": "0x…",
      "router": "0x…"
    },
    "tokens": [{ "code": "USDC", "address": "0x…", "decimals": 6 }],
    "treasury": "0x…"
  }
]
\`\`\`

| field | meaning |
|---|---|
| \`slug\` | Name of the chain in the API. |
| \`chain_id\` | Its EIP-155 number. |
| \`rpc_urls\` | Nodes to use, the preferred one first. They may carry a provider's key: partners never see them. |
| \`quorum\` | Optional: how many of them must say the same before money moves on it. More than half of those that answer by default, so that one of two may be down; set 2 to wait for both. Nodes that contradict each other always hold everything and raise an alert. |
| \`public_rpc_url\` | Node address that partners are shown. |
| \`explorer_url\` | Block explorer whose \`/tx/…\` pages the widget leads its customers to. Optional. |
| \`confirmations\` | Blocks, its own included, that a transaction needs before anything depends on it. |
| \`gas\` | Optional: what transactions may offer for a unit of gas, as decimal text. \`max_fee_gwei\` is the most in all, replacements of late transactions included (300 by default); above it they wait for the network to calm down. The tip is what the node suggests, between \`min_tip_gwei\` (0) and \`max_tip_gwei\` (50, or \`max_fee_gwei\` where that is less), replacements included. Each replacement raises it by an eighth, so leave room for some: at the limit a late transaction is sent again as it is. Equal values fix the tip, and nothing is replaced then. |
| \`contracts\` | Addresses of the Safe contracts, of the forwarder and of the router. |
| \`tokens\` | \`code\` is USDC, USDT or USDT0; \`decimals\` is the token's own. |
| \`treasury\` | Wallet that receives the platform fees. Another one holds for orders whose escrow is fixed after the restart; those before pay the one of their time, which their releases are signed for. |

Addresses have their EIP-55 checksum, so that a slip in one is noticed at the start; in one case they are taken as they are.
`;

const HOT_WALLETS_FILE = `## Hot wallets file

\`HOT_WALLETS_FILE\` names a JSON file with the wallets that pay for the service's transactions. They share the work: each
transaction is given to the one with the fewest under way, so that one that is stuck holds up only its own. They need
ether for gas and nothing else; the service's own key then signs for escrows and pays for nothing.

\`\`\`json
[
  { "keystore": "/run/secrets/hot-1.json", "password_file": "/run/secrets/hot-1.password" },
  { "url": "https://keys.internal", "key_id": "hot-2", "access_token_file": "/run/secrets/keys.token" },
  { "url": "https://keys.internal", "key_id": "hot-base", "chains": ["base-mainnet"] }
]
\`\`\`

| field | meaning |
|---|---|
| \`keystore\`, \`password_file\` | Encrypted keystore file (Web3 secret storage), and the file that holds its password. |
| \`url\`, \`key_id\`, \`access_token_file\` | Key service as for \`SERVICE_SIGNER_URL\`, the key to use there, and optionally the file that holds the bearer token. |
| \`chains\` | Optional: the chains it pays on, by slug. All of them by default; every chain needs at least one wallet. |

A wallet may be added at any time. Before one is taken out, let it finish: what it has signed is only ever sent by it.
`;

function defaultCell({ default: fallback, requiredInProduction }: Variable<unknown>): string {
  if (typeof fallback === 'object')
    return `sandbox \`${fallback.sandbox}\`, production \`${fallback.production}\``;
  if (fallback !== undefined) return `\`${fallback}\``;
  return requiredInProduction ? '**required in production**' : 'not set';
}

const DEPLOYING = `## Putting contracts on a chain

\`npm run contracts:deploy\` and \`npm run contracts:check\` take their settings from flags (\`--help\`) and from these variables;
the [guide](../guides/production.md) shows them at work. They need none of the above.
`;

function aboutCell({ description, example, secret }: Variable<unknown>): string {
  const about = [
    description,
    example && `Example: \`${example}\`.`,
    secret && 'Secret: never printed or logged.',
  ];
  return about.filter(Boolean).join(' ');
}

function row(variable: Variable<unknown>): string {
  const { name, type, roles = ROLES } = variable;
  return tableRow([`\`${name}\``, type.label, defaultCell(variable), roles.join(', '), aboutCell(variable)]);
}

function tableRow(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

/** The configuration reference, in Markdown. */
export function renderConfig(): string {
  const parts = PARTS.map(({ title, variables }) =>
    [
      ...[`### ${title}`, ''],
      ...['| variable | type | default | read by | meaning |', '|---|---|---|---|---|'],
      ...Object.values<Variable<unknown>>(variables).map(row),
    ].join('\n'),
  ).join('\n\n');
  const deployRows = Object.values<Variable<unknown>>(DEPLOY_VARIABLES).map((variable) =>
    tableRow([`\`${variable.name}\``, variable.type.label, aboutCell(variable)]),
  );
  const deploying = ['| variable | type | meaning |', '|---|---|---|', ...deployRows].join('\n');
  return `${INTRODUCTION}\n## Variables\n\n${parts}\n\n${CHAINS_FILE}\n${HOT_WALLETS_FILE}\n${DEPLOYING}\n${deploying}\n`;
}

if (import.meta.main) writeFileSync(OUTPUT, renderConfig());
