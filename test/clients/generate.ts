import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { generateSource } from 'oazapfts';
import openapiTypescript, { astToString } from 'openapi-typescript';

/**
 * `node generate.ts <folder> <base url> <partner key>`: makes clients of `openapi.json` in the folder with two public
 * generators, has them checked together with code that uses them, and calls the API with the one that can.
 */
const [folder = '.', baseUrl = '', key = ''] = process.argv.slice(2);

const USES_OF_TYPES = `import type { components, operations } from './types.ts';

type Schemas = components['schemas'];
type IsNamed<T> = [T] extends [never] ? false : true;
export const named: [IsNamed<Schemas>, IsNamed<Schemas['Order']>, IsNamed<components['responses']>] = [true, true, true];

export const request: operations['createOnrampQuote']['requestBody']['content']['application/json'] = {
  user_uuid: '0199aa9f-1111-7c41-9d0e-6b1f5a3c2d10',
  crypto_currency: 'USDC',
  fiat_currency: 'EUR',
  fiat_amount: '100.00',
};
export const status: Schemas['Order']['status'] = 'completed';
// @ts-expect-error no order has this status
export const noStatus: Schemas['Order']['status'] = 'done';
// @ts-expect-error an amount is text
export const noRequest: Schemas['OnrampQuoteRequest'] = { ...request, fiat_amount: 100 };
export const total = (order: Schemas['Order']): string => order.fee_breakdown.total_fee;
export const reason = ({ error }: Schemas['InvalidStatusError']): 'INVALID_STATUS' => error.code;
`;

const USES_OF_CLIENT = `import * as api from './client.ts';

export async function firstQuote(baseUrl: string, key: string): Promise<string> {
  api.defaults.baseUrl = baseUrl;
  api.defaults.headers = { 'X-API-Key': key };
  const made = await api.createUser({ email: 'generated@example.com', first_name: 'Ada', last_name: 'Lovelace' });
  if (made.status !== 200) return made.data.error.code;
  const { id } = made.data.data;
  await api.sandboxKycStatus(id, { status: 'VERIFIED' });
  // @ts-expect-error a word that is not in the list
  await api.sandboxKycStatus(id, { status: 'VERIFIED!' }).catch(() => undefined);
  const quote = await api.createOnrampQuote({
    user_uuid: id,
    crypto_currency: 'USDC',
    fiat_currency: 'EUR',
    fiat_amount: '100.00',
  });
  return quote.status === 200 ? quote.data.data.fiat_amount : quote.data.error.code;
}
`;

const CHECKED = {
  compilerOptions: {
    target: 'es2024',
    module: 'nodenext',
    strict: true,
    noUncheckedIndexedAccess: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    noEmit: true,
    types: ['node'],
  },
  include: ['*.ts'],
};

const write = (name: string, text: string) => writeFile(join(folder, name), text);

const description = join(folder, 'openapi.json');
await write('types.ts', astToString(await openapiTypescript(await readFile(description, 'utf8'))));
await write('client.ts', await generateSource(description));
await write('uses-of-types.ts', USES_OF_TYPES);
await write('uses-of-client.ts', USES_OF_CLIENT);
await write('tsconfig.json', JSON.stringify(CHECKED));

// The compiler of the project, not the one that the generators need.
const compiler = dirname(
  createRequire(new URL('../../', import.meta.url)).resolve('typescript/package.json'),
);
await promisify(execFile)(process.execPath, [join(compiler, 'bin/tsc'), '-p', folder]).catch(
  ({ stdout }: { stdout: string }) => {
    process.stderr.write(stdout);
    process.exit(1);
  },
);
const { firstQuote } = (await import(pathToFileURL(join(folder, 'uses-of-client.ts')).href)) as {
  firstQuote(baseUrl: string, key: string): Promise<string>;
};
process.stdout.write(await firstQuote(baseUrl, key));
