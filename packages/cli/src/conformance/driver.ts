import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CommandError, EXIT } from '../exit.ts';
import { asCount, asStatus, type StateProbe } from './state.ts';

/** Where the partner's code finds the service: the runner's proxy, with the key of the sandbox's partner. */
export interface Service {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Ends when nothing more is wanted. */
  readonly signal: AbortSignal;
}

export interface OnrampRequest extends Service {
  /** A customer who may trade. */
  readonly userId: string;
  /** Decimal text, to be sent as it is. */
  readonly fiatAmount: string;
  readonly fiatCurrency: string;
  readonly cryptoCurrency: string;
  /** To be given as `reference_id`: orders are counted by it. */
  readonly referenceId: string;
}

export interface OfframpRequest extends OnrampRequest {
  /** Of the customer: where the fiat goes. */
  readonly paymentDetailsId: number;
}

export interface FollowRequest extends Service {
  readonly orderId: string;
}

/** What a driver exports; docs/guides/conformance.md describes it. Each function is optional, and calls the partner's own code. */
export interface Driver {
  readonly openOnramp?: (request: OnrampRequest) => Promise<unknown>;
  readonly openOfframp?: (request: OfframpRequest) => Promise<unknown>;
  readonly followOrder?: (request: FollowRequest) => Promise<unknown>;
  readonly handled?: (eventId: string) => Promise<unknown>;
  readonly orderStatus?: (orderId: string) => Promise<unknown>;
  /** Called at the end: what keeps the process alive, such as a pool of connections, is closed here. */
  readonly close?: () => unknown;
}

const FUNCTIONS = ['openOnramp', 'openOfframp', 'followOrder', 'handled', 'orderStatus', 'close'] as const;

export async function loadDriver(file: string): Promise<Driver> {
  const path = resolve(file);
  let exported: Record<string, unknown>;
  try {
    exported = (await import(pathToFileURL(path).href)) as Record<string, unknown>;
  } catch (error) {
    throw new CommandError(`The driver ${file} cannot be loaded: ${(error as Error).message}`, {
      exitCode: EXIT.usage,
    });
  }
  const found = FUNCTIONS.filter((name) => typeof exported[name] === 'function');
  if (found.every((name) => name === 'close')) {
    throw new CommandError(`The driver ${file} exports none of: ${FUNCTIONS.slice(0, -1).join(', ')}.`, {
      exitCode: EXIT.usage,
      hint: 'docs/guides/conformance.md has the interface, examples/conformance-driver.mjs an example.',
    });
  }
  return Object.fromEntries(found.map((name) => [name, exported[name]])) as Driver;
}

/** What the driver tells of the partner's receiver. */
export function stateOfDriver({ handled, orderStatus }: Driver): StateProbe {
  return {
    ...(handled === undefined
      ? {}
      : { handled: async (eventId: string) => asCount(await handled(eventId), 'handled()') }),
    ...(orderStatus === undefined
      ? {}
      : { orderStatus: async (orderId: string) => asStatus(await orderStatus(orderId), 'orderStatus()') }),
  };
}
