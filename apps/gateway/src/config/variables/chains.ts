import * as addresses from '../address-values.ts';
import * as keys from '../key-values.ts';
import * as values from '../values.ts';
import { inProduction, optional, seconds, withDefault } from '../variable.ts';

/** Chains, and the keys that sign on them. */
export const chains = {
  chainRpcUrls: optional(
    'CHAIN_RPC_URLS',
    addresses.chainRpcUrls,
    'Chains of a sandbox in place of its local ones. Contracts are deployed there when absent.',
    {
      example: 'base-mainnet=http://127.0.0.1:8545,arbitrum-one=http://127.0.0.1:8546',
      secret: true,
      refuse: inProduction(() => 'is for sandboxes; describe the chains of production in CHAINS_FILE'),
    },
  ),
  chainsFile: optional(
    'CHAINS_FILE',
    values.path,
    'JSON file that describes the chains of production; see “Chains file” in the configuration reference.',
    {
      example: '/etc/causeway/chains.json',
      requiredInProduction: true,
      refuse: (_, environment) =>
        environment === 'sandbox'
          ? 'is for production; name the chains of a sandbox in CHAIN_RPC_URLS'
          : undefined,
    },
  ),
  serviceSignerKey: optional(
    'SERVICE_SIGNER_KEY',
    keys.privateKey,
    'Private key that signs for the service on chain; better kept in SERVICE_SIGNER_KEYSTORE or behind SERVICE_SIGNER_URL. A sandbox makes its own.',
    {
      example: '0x…',
      secret: true,
      requiredInProduction: true,
      alternatives: ['SERVICE_SIGNER_KEYSTORE', 'SERVICE_SIGNER_URL'],
      refuse: inProduction((key) =>
        keys.isDevelopmentKey(key) || keys.looksTyped(key.slice(2), 8)
          ? 'is a publicly known or guessable key: anyone who knows it owns every escrow; use a key of your own'
          : undefined,
      ),
    },
  ),
  serviceSignerKeystore: optional(
    'SERVICE_SIGNER_KEYSTORE',
    values.path,
    'Encrypted keystore file (Web3 secret storage) with the service’s key, in place of SERVICE_SIGNER_KEY.',
    { example: '/run/secrets/service-key.json' },
  ),
  serviceSignerKeystorePassword: optional(
    'SERVICE_SIGNER_KEYSTORE_PASSWORD',
    values.text,
    'Opens SERVICE_SIGNER_KEYSTORE.',
    { secret: true },
  ),
  serviceSignerUrl: optional(
    'SERVICE_SIGNER_URL',
    addresses.httpUrl,
    'Key service that signs digests with a key it never gives away, in place of SERVICE_SIGNER_KEY.',
    { example: 'https://keys.internal' },
  ),
  serviceSignerKeyId: optional(
    'SERVICE_SIGNER_KEY_ID',
    values.text,
    'The key to use at SERVICE_SIGNER_URL.',
    { example: 'causeway-service' },
  ),
  serviceSignerToken: optional(
    'SERVICE_SIGNER_TOKEN',
    values.text,
    'Sent to SERVICE_SIGNER_URL as a bearer token.',
    { secret: true },
  ),
  hotWalletsFile: optional(
    'HOT_WALLETS_FILE',
    values.path,
    'JSON file that names the wallets that pay for transactions; see “Hot wallets file” in the configuration reference. Without it the service’s own key pays.',
    {
      example: '/etc/causeway/hot-wallets.json',
      refuse: (_, environment) =>
        environment === 'sandbox' ? 'is for production; a sandbox pays with its own key' : undefined,
    },
  ),
  bridgeUrl: optional(
    'BRIDGE_URL',
    addresses.httpUrl,
    'Bridge that carries send-outs to other chains. A sandbox has its own; without one there is no send-out.',
    { example: 'https://bridge.example.com' },
  ),
  bridgeToken: optional('BRIDGE_TOKEN', values.text, 'Sent to BRIDGE_URL as a bearer token.', {
    secret: true,
  }),
  bridgeReviewAfterSeconds: withDefault(
    'BRIDGE_REVIEW_AFTER_SECONDS',
    seconds,
    '1800',
    'A send-out whose bridge was paid and has neither paid out nor paid back is held for an operator this long after the bridge’s quote expired. It never fails by itself: the money is with the bridge.',
  ),
};

/** What the commands that put contracts on a chain read. They run before there is anything else to configure. */
export const DEPLOY_VARIABLES = {
  deployerKey: optional(
    'DEPLOYER_KEY',
    keys.privateKey,
    'Private key that pays for the deployment. The contracts have no owner: it is of no use afterwards.',
    { example: '0x…', secret: true },
  ),
  deployerKeystore: optional(
    'DEPLOYER_KEYSTORE',
    values.path,
    'Encrypted keystore file (Web3 secret storage) with that key, in place of DEPLOYER_KEY.',
    { example: '/run/secrets/deployer.json' },
  ),
  deployerKeystorePassword: optional('DEPLOYER_KEYSTORE_PASSWORD', values.text, 'Opens DEPLOYER_KEYSTORE.', {
    secret: true,
  }),
  deployRpcUrl: optional(
    'DEPLOY_RPC_URL',
    addresses.httpUrl,
    'Node to use, in place of `--rpc`: an address that carries a provider’s key does not belong on a command line.',
    { example: 'https://node.example.com/your-key', secret: true },
  ),
  chainsFile: optional(
    'CHAINS_FILE',
    values.path,
    'The file to write or to check, in place of `--chains-file`.',
    {
      example: '/etc/causeway/chains.json',
    },
  ),
};
