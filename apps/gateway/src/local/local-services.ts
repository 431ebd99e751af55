import { openHome, type SandboxHome } from './home.ts';
import { type LocalChain, startLocalChain } from './local-chain.ts';
import { type LocalPostgres, startLocalPostgres } from './local-postgres.ts';

// Two supported slugs on chain ids that no real network has: a signature made here is worth nothing elsewhere.
export const LOCAL_CHAINS = [
  { slug: 'base-mainnet', chainId: 73_570_001 },
  { slug: 'arbitrum-one', chainId: 73_570_002 },
];
export const CONFIRMATIONS = 2;

export interface LocalServicesOptions {
  /** The sandbox's folder; created if it does not exist. */
  readonly home: string;
  /** Shown to a caller that tries to start a second sandbox in the same folder. */
  readonly baseUrl?: string;
  readonly chains: readonly { readonly slug: string; readonly chainId: number }[];
  readonly confirmations: number;
  readonly wantPostgres: boolean;
  readonly wantChains: boolean;
  readonly onProgress: (text: string) => void;
  /** What a person should still read when the start is over: a recovery, another port. */
  readonly onNotice: (text: string) => void;
  /** Called at most once, when a part ends without being stopped. */
  readonly onFailure: (error: Error) => void;
  /** Aborting stops whatever was started, and the start rejects. */
  readonly signal?: AbortSignal;
}

export interface LocalServices {
  /** The folder, absolute. */
  readonly home: string;
  readonly databaseUrl?: string;
  readonly chains: readonly { readonly slug: string; readonly chainId: number; readonly rpcUrl: string }[];
  /** Stops everything and unlocks the folder. May be called more than once. */
  stop(): Promise<void>;
}

/** Starts what a sandbox needs beside this process. If one fails, those already started are stopped. */
export async function startLocalServices(options: LocalServicesOptions): Promise<LocalServices> {
  options.signal?.throwIfAborted();
  const home = await openHome(options.home, options.baseUrl === undefined ? {} : { url: options.baseUrl });
  const started = await startAll(home, options).catch(async (error: unknown) => {
    await home.release();
    throw error;
  });
  const services = [...started.chains, ...(started.postgres ? [started.postgres] : [])];

  let stopping: Promise<void> | undefined;
  void started.postgres?.exited.then((sentence) => {
    if (stopping === undefined) options.onFailure(new Error(`${sentence}, without being stopped.`));
  });
  return {
    home: home.path,
    ...(started.postgres ? { databaseUrl: started.postgres.databaseUrl } : {}),
    chains: started.chains.map(({ slug, chainId, rpcUrl }) => ({ slug, chainId, rpcUrl })),
    stop() {
      stopping ??= stopAll(services).finally(() => home.release());
      return stopping;
    },
  };
}

interface Started {
  readonly postgres: LocalPostgres | undefined;
  readonly chains: readonly LocalChain[];
}

async function startAll(home: SandboxHome, options: LocalServicesOptions): Promise<Started> {
  const { onProgress, onNotice, confirmations } = options;
  const names = namesOf(options);
  if (names.length > 0) onProgress(`Starting ${names.join(' and ')}`);
  const postgres = options.wantPostgres
    ? startLocalPostgres({ home: home.path, onProgress, onNotice })
    : Promise.resolve(undefined);
  const chains = (options.wantChains ? options.chains : []).map((chain) =>
    startLocalChain({ ...chain, home: home.path, confirmations, onProgress, onNotice }),
  );
  const outcomes = await Promise.allSettled([postgres, ...chains]);
  const failure = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failure !== undefined || options.signal?.aborted) {
    const running = outcomes.flatMap((each) =>
      each.status === 'fulfilled' && each.value ? [each.value] : [],
    );
    await stopAll(running).catch(() => undefined);
    throw failure?.reason ?? options.signal?.reason;
  }
  return { postgres: await postgres, chains: await Promise.all(chains) };
}

function namesOf({ wantPostgres, wantChains, chains }: LocalServicesOptions): string[] {
  const slugs = chains.map(({ slug }) => slug).join(', ');
  return [...(wantPostgres ? ['PostgreSQL'] : []), ...(wantChains ? [`the local chains (${slugs})`] : [])];
}

async function stopAll(services: readonly { stop(): Promise<void> }[]): Promise<void> {
  const outcomes = await Promise.allSettled(services.map((service) => service.stop()));
  const failure = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
}
