import { flag, type Run, text } from '../command.ts';
import { CommandError, EXIT } from '../exit.ts';
import { fields, table } from '../output.ts';
import {
  configPath,
  findProfile,
  type KeyClass,
  type Profile,
  profileOf,
  readConfig,
  type StoredProfile,
  writeConfig,
} from '../profile.ts';

/** Every saved profile, and where the next command goes. */
export const list: Run = async ({ env, folder, options, output }) => {
  const { profiles } = await readConfig(env);
  const wanted = typeof options.profile === 'string' ? options.profile : undefined;
  const used = await findProfile(env, wanted, folder).catch((error: unknown) => {
    if (error instanceof CommandError && wanted === undefined) return undefined;
    throw error;
  });
  const saved = Object.entries(profiles).map(([name, stored]) => profileOf(name, stored, configPath(env)));
  const isUsed = ({ name, source }: Profile) => used?.name === name && used.source === source;
  const all = [...saved, ...(used === undefined || saved.some(isUsed) ? [] : [used])];
  const rows = all.map((profile) => ({
    name: profile.name,
    base_url: profile.baseUrl,
    kind: profile.kind ?? null,
    keys: Object.keys(profile.keys),
    source: profile.source,
    in_use: isUsed(profile),
  }));
  output.result({ profiles: rows }, (paint) =>
    rows.length === 0
      ? 'No profile is saved: causeway login makes one.'
      : table(
          ['', 'PROFILE', 'ADDRESS', 'KIND', 'KEYS', 'FROM'],
          rows.map((row) => [
            row.in_use ? paint('green', '*') : '',
            row.name,
            row.base_url,
            row.kind === 'live' ? paint('yellow', row.kind) : (row.kind ?? 'unknown'),
            row.keys.join(', ') || 'none',
            row.source,
          ]),
          paint,
        ),
  );
};

export const use: Run = async ({ args, env, output }) => {
  const config = await readConfig(env);
  const [name = ''] = args;
  const stored = storedOf(config.profiles, name);
  await writeConfig(env, { ...config, current: name });
  const { baseUrl, kind } = profileOf(name, stored, configPath(env));
  output.result({ profile: name, base_url: baseUrl, kind: kind ?? null }, (paint) =>
    fields(
      [
        ['profile', name],
        ['address', baseUrl],
        ['kind', kind],
      ],
      paint,
    ),
  );
  if (env.CAUSEWAY_BASE_URL) output.note('CAUSEWAY_BASE_URL is set and comes before it.');
};

/** Forgets a profile, or one key of it. The service still knows the key. */
export const logout: Run = async (invocation) => {
  const { args, env, output } = invocation;
  const config = await readConfig(env);
  if (flag(invocation, 'all')) {
    await writeConfig(env, { current: 'default', profiles: {} });
    const removed = Object.keys(config.profiles);
    output.result({ removed }, () => `Forgotten: ${removed.join(', ') || 'nothing was saved'}.`);
    return;
  }
  const name = args[0] ?? text(invocation, 'profile') ?? config.current;
  const stored = storedOf(config.profiles, name);
  const { [name]: _removed, ...others } = config.profiles;
  const kept = withoutKey(stored, text(invocation, 'as') as KeyClass | undefined);
  await writeConfig(env, {
    ...config,
    profiles: kept === undefined ? others : { ...others, [name]: kept },
  });
  output.result({ removed: kept === undefined ? [name] : [], profile: name }, () =>
    kept === undefined
      ? `Forgotten: ${name}.`
      : `Forgotten: the key of ${text(invocation, 'as')} of ${name}.`,
  );
  output.note('The key itself still works; an operator can revoke it.');
};

/** What is left of the profile; nothing without a key. */
function withoutKey(stored: StoredProfile, keyClass: KeyClass | undefined): StoredProfile | undefined {
  if (keyClass === undefined) return undefined;
  const { [keyClass]: _removed, ...keys } = stored.keys;
  return Object.keys(keys).length === 0 ? undefined : { ...stored, keys };
}

function storedOf(profiles: Readonly<Record<string, StoredProfile>>, name: string): StoredProfile {
  const stored = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (stored !== undefined) return stored;
  throw new CommandError(`There is no profile “${name}”.`, {
    exitCode: EXIT.notFound,
    hint: 'causeway profiles lists them.',
  });
}
