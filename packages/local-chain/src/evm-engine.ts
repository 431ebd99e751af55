import type { EdrContext, Provider } from '@nomicfoundation/edr';

/** The EVM itself: EDR in this process, made to say what nodes say. It never mines and never moves its clock on its own. */

export type Hex = `0x${string}`;

export interface Genesis {
  readonly chainId: number;
  /** Seconds since 1970. */
  readonly time: number;
}

export interface Call {
  readonly method: string;
  readonly params?: readonly unknown[];
}

export interface EvmEngine {
  ask<T = unknown>(method: string, params?: readonly unknown[]): Promise<T>;
  /** One after the other, without coming back in between; the first that is refused ends it. */
  askAll(calls: readonly Call[]): Promise<unknown[]>;
}

/** What a JSON-RPC client is told. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export const RPC_CODES = {
  parse: -32_700,
  invalidRequest: -32_600,
  unknownMethod: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
  refused: -32_000,
  reverted: 3,
} as const;

const BLOCK_GAS_LIMIT = 30_000_000n;
const FIRST_BASE_FEE_WEI = 1_000_000_000n;
const CALL_GAS_LIMIT = 16_777_216n;

/** The keyless CREATE2 deployer that real networks have at this address. */
const CREATE2_DEPLOYER = {
  address: '4e59b44847b379578588920ca78fbf26c0b4956c',
  code: '7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3',
};

type Edr = typeof import('@nomicfoundation/edr');
let loaded: Promise<{ edr: Edr; context: EdrContext }> | undefined;

/** Loaded when the first chain is wanted; a process may have one context only. */
function loadEdr(): Promise<{ edr: Edr; context: EdrContext }> {
  loaded ??= (async () => {
    const edr = await import('@nomicfoundation/edr');
    const context = new edr.EdrContext();
    await context.registerProviderFactory(edr.L1_CHAIN_TYPE, edr.l1ProviderFactory());
    return { edr, context };
  })();
  return loaded;
}

export async function createEngine(genesis: Genesis): Promise<EvmEngine> {
  const { edr, context } = await loadEdr();
  const chainId = BigInt(genesis.chainId);
  const provider = await context.createProvider(
    edr.L1_CHAIN_TYPE,
    {
      chainId,
      networkId: chainId,
      hardfork: edr.PRAGUE,
      genesisState: [
        ...edr.l1GenesisState(edr.l1HardforkFromString(edr.PRAGUE)),
        {
          address: bytes(CREATE2_DEPLOYER.address),
          nonce: 1n,
          balance: 0n,
          code: bytes(CREATE2_DEPLOYER.code),
        },
      ],
      network: { genesisBlockGasLimit: BLOCK_GAS_LIMIT, genesisBlockTime: BigInt(genesis.time) },
      initialBaseFeePerGas: FIRST_BASE_FEE_WEI,
      minGasPrice: 0n,
      // Its own automine refuses a nonce that is ahead of its turn, which nodes keep: blocks are made by the holder of the engine.
      mining: {
        autoMine: false,
        blockGasLimit: BLOCK_GAS_LIMIT,
        memPool: { order: edr.MineOrdering.Fifo },
      },
      // The usual development accounts have publicly known keys.
      ownedAccounts: [],
      coinbase: new Uint8Array(20),
      allowBlocksWithSameTimestamp: true,
      allowUnlimitedContractSize: false,
      bailOnCallFailure: true,
      // A transaction that reverts is mined and answered with its hash, as on a real node.
      bailOnTransactionFailure: false,
      defaultTransactionGasLimit: CALL_GAS_LIMIT,
      observability: {},
      precompileOverrides: [],
    },
    { enable: false, decodeConsoleLogInputsCallback: () => [], printLineCallback: () => {} },
    { subscriptionCallback: () => {} },
    new edr.ContractDecoder(),
  );
  return {
    ask: <T>(method: string, params: readonly unknown[] = []) => ask<T>(provider, request(method, params)),
    askAll: (calls) =>
      ask(
        provider,
        calls.map(({ method, params = [] }) => request(method, params)),
      ),
  };
}

function request(method: string, params: readonly unknown[]): object {
  return { jsonrpc: '2.0', id: 1, method, params };
}

async function ask<T>(provider: Provider, asked: object | readonly object[]): Promise<T> {
  const { data } = await provider.handleRequest(JSON.stringify(asked));
  const answer = (typeof data === 'string' ? JSON.parse(data) : data) as EngineAnswer;
  if (answer.error !== undefined) throw asNodesSayIt(answer.error);
  return answer.result as T;
}

interface EngineAnswer {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** Clients know a revert by code 3 with its data, and the usual refusals by the words of the common nodes. */
function asNodesSayIt({ code, message, data }: NonNullable<EngineAnswer['error']>): RpcError {
  const revertData = (data as { data?: unknown } | null | undefined)?.data;
  if (typeof revertData === 'string') {
    const reason = /reverted with reason string '(.*)'$/s.exec(message)?.[1];
    const words = reason === undefined ? 'execution reverted' : `execution reverted: ${reason}`;
    return new RpcError(RPC_CODES.reverted, words, revertData);
  }
  if (message.startsWith('Known transaction')) return new RpcError(RPC_CODES.refused, 'already known');
  if (message.startsWith("Sender doesn't have enough funds")) {
    return new RpcError(RPC_CODES.refused, `insufficient funds for gas * price + value: ${message}`);
  }
  return new RpcError(code, message, data ?? undefined);
}

function bytes(hex: string): Uint8Array {
  return new Uint8Array(Buffer.from(hex, 'hex'));
}
