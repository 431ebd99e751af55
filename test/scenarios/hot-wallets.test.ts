import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Address, tokenByCode } from '../../apps/gateway/src/chain/chain-settings.ts';
import { connectChains } from '../../apps/gateway/src/chain/chains.ts';
import { sealKeystore } from '../../apps/gateway/src/chain/signers/keystore-signer.ts';
import { startKeyService } from '../../apps/gateway/src/chain/testing/key-service.ts';
import {
  randomWallet,
  startTestChain,
  type TestChain,
} from '../../apps/gateway/src/chain/testing/local-chain.ts';
import { tokenTransferCall } from '../../apps/gateway/src/chain/token-reads.ts';
import { createTransactor } from '../../apps/gateway/src/chain/transactions/transactor.ts';
import { type ConfigError, loadConfig } from '../../apps/gateway/src/config.ts';
import { createClock } from '../../apps/gateway/src/lib/clock.ts';
import { createIdGenerator } from '../../apps/gateway/src/lib/ids.ts';
import { productionSurroundings } from '../../apps/gateway/src/production.ts';
import { openTestDatabase, type TestDatabase } from '../harness/database.ts';

const AMOUNT = 1_000n;
const TOKEN = 'key-service-token';
const cheap = { n: 1024, r: 8, p: 1 };

describe('the hot wallets of a production deployment', () => {
  let chain: TestChain;
  let database: TestDatabase;
  let folder: string;

  beforeAll(async () => {
    [chain, database, folder] = await Promise.all([
      startTestChain(31_416),
      openTestDatabase(),
      mkdtemp(join(tmpdir(), 'causeway-wallets-')),
    ]);
  });
  afterAll(async () => {
    await Promise.all([chain?.stop(), database?.close(), rm(folder, { recursive: true, force: true })]);
  });

  async function file(name: string, content: string): Promise<string> {
    await writeFile(join(folder, name), content);
    return join(folder, name);
  }

  function environment(hotWalletsFile: string, chainsFile: string) {
    return {
      CAUSEWAY_ENV: 'production',
      PUBLIC_BASE_URL: 'https://pay.example.com',
      DATABASE_URL: database.url,
      CHAINS_FILE: chainsFile,
      HOT_WALLETS_FILE: hotWalletsFile,
      SERVICE_SIGNER_KEY: `0x${randomBytes(32).toString('hex')}`,
      DATA_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      OPERATOR_KEY: `cw_operator_${randomBytes(24).toString('hex')}`,
    };
  }

  async function chainsFile(): Promise<string> {
    const { contracts, tokens, treasury, rpcUrl, chainId } = chain.settings;
    const entry = {
      slug: 'base-mainnet',
      chain_id: chainId,
      rpc_urls: [rpcUrl],
      public_rpc_url: rpcUrl,
      confirmations: 1,
      contracts: {
        safe_singleton: contracts.safeSingleton,
        safe_proxy_factory: contracts.safeProxyFactory,
        multi_send_call_only: contracts.multiSendCallOnly,
        fallback_handler: contracts.fallbackHandler,
        forwarder: contracts.forwarder,
        router: contracts.router,
      },
      tokens,
      treasury,
    };
    return file('chains.json', JSON.stringify([entry]));
  }

  it('come from a keystore and a key service, share the effects, and the service’s own key pays for none', async () => {
    const [inFile, behindService] = [await chain.fundedWallet(), await chain.fundedWallet()];
    const keyService = await startKeyService(behindService, TOKEN);
    const wallets = [
      {
        keystore: await file('hot.json', await sealKeystore(inFile.privateKey, 'correct horse', cheap)),
        password_file: await file('hot.password', 'correct horse\n'),
      },
      { url: keyService.url, key_id: 'hot-2', access_token_file: await file('token', TOKEN) },
    ];
    const env = environment(await file('wallets.json', JSON.stringify(wallets)), await chainsFile());
    const around = await productionSurroundings(loadConfig(env, [], (path) => readFileSync(path, 'utf8')));
    const chains = connectChains(around.chains, around.serviceSigner);
    const transactor = createTransactor({
      ...{ db: database.db, clock: createClock(), ids: createIdGenerator(), chains: chains.all },
      signers: [around.serviceSigner],
      hotWallets: around.hotWallets ?? [],
    });
    const payment = (to: Address) => async () => ({
      chainId: chain.settings.chainId,
      sender: 'hot-wallet' as const,
      call: tokenTransferCall({ token: tokenByCode(chain.settings, 'USDC').address, to, amount: AMOUNT }),
    });
    await chain.control.setAutomine(false);
    const effects = Array.from({ length: 6 }, () => ({ key: randomUUID(), to: randomWallet().address }));
    for (const { key, to } of effects) await transactor.advance(key, payment(to));
    await chain.control.setAutomine(true);
    await chain.control.mine({ blocks: 1 });
    for (const { key, to } of effects) {
      await vi.waitFor(async () => expect((await transactor.advance(key, payment(to))).state).toBe('mined'), {
        interval: 10,
        timeout: 10_000,
      });
      expect(await chain.balanceOf('USDC', to)).toBe(AMOUNT);
    }
    const sent = (address: Address) => chain.client.getTransactionCount({ address });
    expect([await sent(inFile.address), await sent(behindService.address)]).toEqual([3, 3]);
    expect(await sent(around.serviceSigner.address)).toBe(0);
    await keyService.close();
  });

  it('stop the start where a key cannot be had, all of them named at once by variable, wallet and file', async () => {
    const sealed = await sealKeystore(randomWallet().privateKey, 'right', cheap);
    const [shut, other] = [await file('shut.json', sealed), await file('other.json', sealed)];
    const wrong = await file('shut.password', 'wrong');
    const absent = join(folder, 'absent');
    const wallets = [
      { keystore: shut, password_file: wrong },
      { keystore: other, password_file: absent },
      { keystore: absent, password_file: wrong },
    ];
    const list = await file('shut-wallets.json', JSON.stringify(wallets));
    const { SERVICE_SIGNER_KEY: _, ...rest } = environment(list, await chainsFile());
    const env = {
      ...rest,
      SERVICE_SIGNER_KEYSTORE: shut,
      SERVICE_SIGNER_KEYSTORE_PASSWORD: 'wrong',
      SANCTIONS_LIST_FILE: absent,
    };
    const config = loadConfig(env, [], (path) => readFileSync(path, 'utf8'));
    const problems = await productionSurroundings(config).then(
      () => [],
      (error: ConfigError) => error.problems,
    );
    const shutText = 'the password does not open the keystore.';
    const absentText = `(${absent}): cannot be read (ENOENT).`;
    expect(problems).toEqual([
      `SERVICE_SIGNER_KEYSTORE (${shut}) with SERVICE_SIGNER_KEYSTORE_PASSWORD: ${shutText}`,
      `HOT_WALLETS_FILE (${list}), wallet 1: ${shutText}`,
      `HOT_WALLETS_FILE (${list}), wallet 2, password_file ${absentText}`,
      `HOT_WALLETS_FILE (${list}), wallet 3, keystore ${absentText}`,
      `SANCTIONS_LIST_FILE ${absentText}`,
    ]);
  });
});
