import { promises as dns, type LookupAddress } from 'node:dns';
import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';

/**
 * Looks up names that other people give. The system's own look-up (getaddrinfo) runs on the few threads that files and
 * every other look-up of the process share, and gives up when its server does: eight silent names stop it for all.
 * This one asks the name servers itself, over its own sockets and for its own time; it shares look-ups of one name,
 * remembers answers for a short while, and lets no asker have more than a few under way.
 */
export interface NameResolver {
  /** Every address of a name. */
  lookup(hostname: string, done: LookupDone): void;
  /** The same for one of many askers. Throws TooManyLookups where it has as many under way as it may have. */
  lookupFor(asker: string, hostname: string): Promise<readonly LookupAddress[]>;
  close(): void;
}

type LookupDone = (error: Error | null, addresses: readonly LookupAddress[]) => void;

export class TooManyLookups extends Error {
  override readonly name = 'TooManyLookups';
}

export interface NameResolverOptions {
  /** `address` or `address:port`; the system's own where there are none. */
  readonly servers?: readonly string[];
  readonly hostsFile?: string;
  /** Machine time. */
  readonly wall?: () => number;
  readonly timeoutMs?: number;
}

export const LOOKUPS_AN_ASKER = 4;
const TIMEOUT_MS = 2_000;
const TRIES = 2;
const MAX_REMEMBERED = 2_000;
const FOUND_FOR_MS = 30_000;
const NOT_FOUND_FOR_MS = 5_000;

interface Remembered {
  readonly until: number;
  readonly answer: readonly LookupAddress[] | Error;
}

export function createNameResolver(options: NameResolverOptions = {}): NameResolver {
  const wall = options.wall ?? Date.now;
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  const channel = new dns.Resolver({ timeout: Math.ceil(timeoutMs / TRIES), tries: TRIES });
  if (options.servers !== undefined && options.servers.length > 0) channel.setServers(options.servers);
  const hosts = hostsReader(options.hostsFile ?? '/etc/hosts');
  const remembered = new Map<string, Remembered>();
  const underWay = new Map<string, Promise<readonly LookupAddress[]>>();
  const byAsker = new Map<string, number>();

  async function ask(name: string): Promise<readonly LookupAddress[]> {
    const local = await hosts(name);
    if (local.length > 0) return local;
    const [four, six] = await Promise.allSettled([channel.resolve4(name), channel.resolve6(name)]);
    const found = [...addressesOf(four, 4), ...addressesOf(six, 6)];
    if (found.length > 0) return found;
    throw four.status === 'rejected' ? four.reason : new Error(`${name} has no address`);
  }

  function find(hostname: string): Promise<readonly LookupAddress[]> {
    const name = canonical(hostname);
    const known = remembered.get(name);
    if (known !== undefined && known.until > wall()) {
      return known.answer instanceof Error ? Promise.reject(known.answer) : Promise.resolve(known.answer);
    }
    const shared = underWay.get(name);
    if (shared !== undefined) return shared;
    const asked = within(timeoutMs, ask(name))
      .then(
        (answer) => remember(name, answer, FOUND_FOR_MS),
        (error: Error) => {
          remember(name, error, NOT_FOUND_FOR_MS);
          throw error;
        },
      )
      .finally(() => underWay.delete(name));
    underWay.set(name, asked);
    return asked;
  }

  function remember<T extends Remembered['answer']>(name: string, answer: T, forMs: number): T {
    remembered.delete(name);
    const [oldest] = remembered.keys();
    if (remembered.size >= MAX_REMEMBERED && oldest !== undefined) remembered.delete(oldest);
    remembered.set(name, { until: wall() + forMs, answer });
    return answer;
  }

  return {
    lookup(hostname, done) {
      find(hostname).then(
        (addresses) => done(null, addresses),
        (error: Error) => done(error, []),
      );
    },
    async lookupFor(asker, hostname) {
      const count = byAsker.get(asker) ?? 0;
      if (count >= LOOKUPS_AN_ASKER) throw new TooManyLookups();
      byAsker.set(asker, count + 1);
      try {
        return await find(hostname);
      } finally {
        const left = (byAsker.get(asker) ?? 1) - 1;
        if (left === 0) byAsker.delete(asker);
        else byAsker.set(asker, left);
      }
    },
    close() {
      channel.cancel();
    },
  };
}

/** A final dot only says that the name is complete. */
function canonical(hostname: string): string {
  return (hostname.endsWith('.') ? hostname.slice(0, -1) : hostname).toLowerCase();
}

function addressesOf(settled: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] {
  return settled.status === 'rejected' ? [] : settled.value.map((address) => ({ address, family }));
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('the name servers did not answer in time')), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

const HOSTS_CHECKED_EVERY_MS = 10_000;

/** Names of this machine: its hosts file, looked at again when it has changed, and `localhost`, which no server answers. */
function hostsReader(path: string): (name: string) => Promise<readonly LookupAddress[]> {
  let entries = new Map<string, LookupAddress[]>();
  let readAt = Number.NEGATIVE_INFINITY;
  let modifiedMs = -1;
  return async (name) => {
    if (performance.now() - readAt > HOSTS_CHECKED_EVERY_MS) {
      readAt = performance.now();
      const found = await stat(path).catch(() => undefined);
      if (found !== undefined && found.mtimeMs !== modifiedMs) {
        entries = parseHosts(await readFile(path, 'utf8').catch(() => ''));
        modifiedMs = found.mtimeMs;
      }
    }
    if (name === 'localhost' || name.endsWith('.localhost')) return entries.get(name) ?? LOCALHOST;
    return entries.get(name) ?? [];
  };
}

const LOCALHOST: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

function parseHosts(text: string): Map<string, LookupAddress[]> {
  const entries = new Map<string, LookupAddress[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of names.map(canonical)) {
      entries.set(name, [...(entries.get(name) ?? []), { address, family }]);
    }
  }
  return entries;
}
