import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';

/** A wallet that pays for the service's transactions. Its key is in an encrypted file or behind a key service. */
export interface ConfiguredHotWallet {
  readonly key:
    | { readonly keystore: string; readonly passwordFile: string }
    | { readonly url: string; readonly keyId: string; readonly accessTokenFile?: string };
  /** Slugs of the chains it pays on; all of them where it names none. */
  readonly chains?: readonly string[];
}

const Slugs = Type.Optional(
  Type.Array(Type.String({ pattern: '^[a-z0-9]+(-[a-z0-9]+)*$' }), { minItems: 1 }),
);
const Path = Type.String({ minLength: 1 });

const KeystoreWallet = Type.Object(
  { keystore: Path, password_file: Path, chains: Slugs },
  { additionalProperties: false },
);
const RemoteWallet = Type.Object(
  {
    url: Type.String({ pattern: '^https?://[^\\s/]+' }),
    key_id: Type.String({ minLength: 1 }),
    access_token_file: Type.Optional(Path),
    chains: Slugs,
  },
  { additionalProperties: false },
);
const HotWalletsFile = Type.Array(Type.Union([KeystoreWallet, RemoteWallet]), { minItems: 1 });

type WalletEntry = Static<typeof HotWalletsFile>[number];

export type HotWalletsFileResult =
  | { readonly wallets: readonly ConfiguredHotWallet[]; readonly problems?: undefined }
  | { readonly problems: readonly [string, ...string[]] };

/** Reads the text of a hot wallets file. Every chain must have a wallet, and none may be named that is not there. */
export function parseHotWalletsFile(text: string, chains: readonly string[]): HotWalletsFileResult {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    return { problems: ['is not valid JSON'] };
  }
  if (!Value.Check(HotWalletsFile, content)) {
    return {
      problems: [
        'must be a list of wallets, each with keystore and password_file, or with url and key_id (and access_token_file), and optionally chains',
      ],
    };
  }
  const [first, ...others] = problemsOf(content, chains);
  if (first !== undefined) return { problems: [first, ...others] };
  return { wallets: content.map(toHotWallet) };
}

function problemsOf(entries: readonly WalletEntry[], chains: readonly string[]): string[] {
  const named = entries.flatMap((entry) => entry.chains ?? []);
  const unknown = [...new Set(named)].filter((slug) => !chains.includes(slug));
  const unserved = chains.filter(
    (slug) => !entries.some((entry) => entry.chains === undefined || entry.chains.includes(slug)),
  );
  const keys = entries.map((entry) =>
    'keystore' in entry ? entry.keystore : JSON.stringify([entry.url, entry.key_id]),
  );
  return [
    ...unknown.map((slug) => `names chain ${slug}, which CHAINS_FILE does not have`),
    ...unserved.map((slug) => `has no wallet for ${slug}`),
    ...(new Set(keys).size < keys.length ? ['names a key twice'] : []),
  ];
}

function toHotWallet(entry: WalletEntry): ConfiguredHotWallet {
  const chains = entry.chains === undefined ? {} : { chains: entry.chains };
  if ('keystore' in entry) {
    return { key: { keystore: entry.keystore, passwordFile: entry.password_file }, ...chains };
  }
  const token = entry.access_token_file === undefined ? {} : { accessTokenFile: entry.access_token_file };
  return { key: { url: entry.url, keyId: entry.key_id, ...token }, ...chains };
}
