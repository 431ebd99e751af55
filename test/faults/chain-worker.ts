import { flushCompileCache } from 'node:module';
import type { ChainSettings, Hex } from '../../apps/gateway/src/chain/chain-settings.ts';
import { createChainClient } from '../../apps/gateway/src/chain/rpc/chain-client.ts';
import { localSigner } from '../../apps/gateway/src/chain/signers/keystore-signer.ts';
import { tokenTransferCall } from '../../apps/gateway/src/chain/token-reads.ts';
import { transactionHandler } from '../../apps/gateway/src/chain/transactions/transaction-handler.ts';
import { createTransactor } from '../../apps/gateway/src/chain/transactions/transactor.ts';
import { watchTurn } from '../../apps/gateway/src/chain/watcher/watcher.ts';
import { createDatabase } from '../../apps/gateway/src/db/database.ts';
import { prepareIntent } from '../../apps/gateway/src/engine/intent.ts';
import { createIntentWorker } from '../../apps/gateway/src/engine/intent-worker.ts';
import { schedule } from '../../apps/gateway/src/lib/backoff.ts';
import { createClock } from '../../apps/gateway/src/lib/clock.ts';
import { createIdGenerator } from '../../apps/gateway/src/lib/ids.ts';
import { createLogger } from '../../apps/gateway/src/lib/logger.ts';
import { createMetrics } from '../../apps/gateway/src/lib/metrics.ts';

/**
 * A worker that may be killed at any moment: it watches a chain, and for every exact deposit it sees it pays the same
 * amount out of its own wallet, by an intent written with the deposit. A payment is something a chain would happily do twice.
 */
export interface ChainWorkerTask {
  readonly databaseUrl: string;
  readonly settings: ChainSettings;
  readonly signerKey: Hex;
}

/** A kind that pays; the payload says besides the order what the test's payment needs. */
const KIND = 'escrow.release';
type PayPayload = {
  readonly order_id: string;
  readonly to: string;
  readonly amount: string;
  readonly token: string;
};

const LEASE_MS = 300;
const POLL_MS = 40;

function work({ databaseUrl, settings, signerKey }: ChainWorkerTask): void {
  const deps = {
    db: createDatabase({ connectionString: databaseUrl, poolSize: 4 }),
    clock: createClock(),
    ids: createIdGenerator(),
    logger: createLogger({ level: 'silent', format: 'json' }),
    metrics: createMetrics({ processMetrics: false }),
  };
  const client = createChainClient(settings);
  const signer = localSigner(signerKey);
  const transactor = createTransactor({ ...deps, chains: [{ settings, client }], signers: [signer] });
  const pay = transactionHandler<typeof KIND>(transactor, {
    schedule: schedule([1], { maxAttempts: 50 }),
    pollMs: POLL_MS,
    logger: deps.logger,
    describe: async ({ payload }) => {
      const { token, to, amount } = payload as PayPayload;
      return {
        chainId: settings.chainId,
        sender: signer.address,
        call: tokenTransferCall({ token: token as Hex, to: to as Hex, amount: BigInt(amount) }),
      };
    },
    conclude: async (_intent, { txHash }) => ({ kind: 'confirmed', result: { tx_hash: txHash } }),
  });
  const turn = watchTurn({
    ...deps,
    settings,
    client,
    bookHeldDeposits: () => {},
    handlers: [
      async (fact, unit) => {
        if (fact.type !== 'deposit' || fact.kind !== 'exact') return;
        // The test names the recipient by the order's partner: 20 bytes of it follow from the order id.
        const payload: PayPayload = {
          order_id: fact.orderId,
          to: recipientOf(fact.orderId),
          amount: `${fact.amount}`,
          token: fact.token,
        };
        prepareIntent(unit, { kind: KIND, dedupeKey: fact.orderId, partnerId: null, payload });
      },
    ],
  });
  const intents = createIntentWorker(
    deps,
    { [KIND]: pay },
    {
      concurrency: 2,
      leaseMs: LEASE_MS,
      pollMs: POLL_MS,
    },
  );
  intents.start();
  void (async () => {
    for (;;) {
      await turn();
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  })();
}

/** An address of its own. */
export function recipientOf(orderId: string): Hex {
  return `0x${orderId.replaceAll('-', '').padEnd(40, '7')}`;
}

if (process.send !== undefined && process.argv[1] === import.meta.filename) {
  // Written at an exit otherwise, and none of these has one.
  flushCompileCache();
  process.on('message', (task) => work(task as ChainWorkerTask));
  process.send('ready');
}
