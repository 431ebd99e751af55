import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadListedWallets, SHIPPED_ADDRESSES } from './wallet-screening.ts';

const LAZARUS = '0x098B716B8Aaf21512996dC57EB0615e2383E2f96';
const OTHER = '0x7F367cC41522cE07553e823bf3be79A889DEbe1B';
/** What a stream reads at a time. */
const CHUNK = 64 * 1024;

describe('the wallets of a sanctions list', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'causeway-wallets-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function file(name: string, text: string): Promise<string> {
    const path = join(folder, name);
    await writeFile(path, text);
    return path;
  }

  it('come with the program, in any letter case', async () => {
    const wallets = await loadListedWallets({ addresses: SHIPPED_ADDRESSES });
    for (const address of [LAZARUS, LAZARUS.toLowerCase(), OTHER]) {
      expect(await wallets.screen(address)).toMatchObject({ status: 'blocked' });
    }
    expect(await wallets.screen(`0x${'1'.repeat(40)}`)).toMatchObject({ status: 'clear', listed: [] });
  });

  it.each([
    [
      'sdn.xml',
      `<idList><id><uid>1</uid><idType>Digital Currency Address - ETH</idType><idNumber>${LAZARUS}</idNumber></id></idList>`,
    ],
    [
      'sdn.csv',
      `27307,"LAZARUS GROUP",-0- ,"DPRK3",-0- ,-0- ,"Digital Currency Address - ETH ${LAZARUS}; x"`,
    ],
    ['entities.ftm.json', JSON.stringify({ schema: 'CryptoWallet', properties: { publicKey: [LAZARUS] } })],
    ['plain.txt', `\uFEFF${LAZARUS}\r\n`],
  ])('are read from %s', async (name, text) => {
    const wallets = await loadListedWallets({ addresses: SHIPPED_ADDRESSES, names: await file(name, text) });
    expect(await wallets.screen(LAZARUS)).toMatchObject({
      status: 'blocked',
      listed: ['sanctioned-addresses.json', name],
    });
  });

  it('are found wherever the file is cut, and a longer value is none', async () => {
    for (let before = CHUNK - 44; before <= CHUNK + 1; before += 1) {
      const text = `${'x'.repeat(before)}${LAZARUS}`;
      const wallets = await loadListedWallets({ addresses: await file('cut.txt', text) });
      expect((await wallets.screen(LAZARUS)).status, `${before}`).toBe('blocked');
      const hash = `${text}${'a'.repeat(24)} ${OTHER}`;
      const longer = await loadListedWallets({ addresses: await file('hash.txt', hash) });
      expect((await longer.screen(LAZARUS)).status, `${before}`).toBe('clear');
    }
  });

  it('an own list of addresses without any is refused: it would clear every wallet', async () => {
    await expect(loadListedWallets({ addresses: await file('empty.txt', 'nobody') })).rejects.toThrow('none');
  });
});
