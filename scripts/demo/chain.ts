/** What a chain says, over JSON-RPC and without the API: balances at a block, and every transfer of a token. */
export interface Chain {
  readonly name: string;
  block(): Promise<number>;
  balance(address: string, block: number): Promise<bigint>;
  /** Of the token, in these blocks and both ends included. */
  transfers(from: number, to: number): Promise<Transfer[]>;
}

export interface Transfer {
  readonly from: string;
  readonly to: string;
  readonly amount: bigint;
}

const BALANCE_OF = '0x70a08231';
/** keccak256 of Transfer(address,address,uint256) */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

const hex = (value: number) => `0x${value.toString(16)}`;
/** Addresses are 20 of the 32 bytes of a topic. */
const addressIn = (topic = '') => `0x${topic.slice(-40)}`;

export function createChain(name: string, rpcUrl: string, token: string): Chain {
  async function ask<Result>(method: string, ...params: readonly unknown[]): Promise<Result> {
    const response = await fetch(rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const { result, error } = (await response.json()) as { result: Result; error?: { message: string } };
    if (error !== undefined) throw new Error(`${name}: ${method}: ${error.message}`);
    return result;
  }

  return {
    name,
    block: async () => Number(await ask<string>('eth_blockNumber')),
    async balance(address, block) {
      const data = BALANCE_OF + address.slice(2).toLowerCase().padStart(64, '0');
      return BigInt(await ask<string>('eth_call', { to: token, data }, hex(block)));
    },
    async transfers(from, to) {
      const filter = { address: token, topics: [TRANSFER], fromBlock: hex(from), toBlock: hex(to) };
      const logs = await ask<{ topics: string[]; data: string }[]>('eth_getLogs', filter);
      return logs.map(({ topics, data }) => ({
        from: addressIn(topics[1]),
        to: addressIn(topics[2]),
        amount: BigInt(data),
      }));
    },
  };
}

/** What an address has more (or, negative, less) after these transfers. */
export function movedBy(transfers: readonly Transfer[], address: string): bigint {
  const own = address.toLowerCase();
  return transfers.reduce(
    (sum, { from, to, amount }) => sum + (to === own ? amount : 0n) - (from === own ? amount : 0n),
    0n,
  );
}

/** `1234567` with 6 decimals is 1.234567. */
export function formatAmount(value: bigint, decimals: number, withSign = false): string {
  const digits = String(value < 0n ? -value : value).padStart(decimals + 1, '0');
  const sign = value < 0n ? '-' : withSign && value > 0n ? '+' : '';
  return `${sign}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

export function parseAmount(text: string, decimals: number): bigint {
  const [whole = '0', part = ''] = text.split('.');
  if (part.length > decimals) throw new Error(`${text} has more than ${decimals} decimals`);
  return BigInt(whole + part.padEnd(decimals, '0'));
}
