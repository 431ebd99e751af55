import {
  type AuthorizationStatus,
  type BridgeAuthorizationParametersSchema,
  CausewayError,
  type ForwardRequestInput,
  formatFixed,
  type TransferAuthorizationParametersSchema,
} from '@causeway/protocol';
import type { Static } from 'typebox';
import type { Address, ChainSettings, ChainToken, Hex } from '../chain-settings.ts';
import { sameAddress } from '../watcher/chain-facts.ts';
import { type ForwardRequest, forwardTypedData, routerRequest } from './forward-request.ts';

/** What a partner is asked to sign so that its own tokens move, as it was issued and as it comes back. */

export type AuthorizationPurpose = 'funding' | 'bridge';

/** Where a send-out goes, as the bridge quoted it. */
export interface BridgeLeg {
  readonly quoteId: Hex;
  readonly toAmount: string;
  readonly destinationChain: string;
  readonly destinationAddress: Address;
  /** When the bridge's offer ends, as an ISO time. */
  readonly expiresAt?: string;
}

export interface Authorization {
  readonly authorizationId: string;
  readonly orderId: string;
  readonly partnerId: string;
  readonly purpose: AuthorizationPurpose;
  readonly chainId: number;
  readonly forwarder: Address;
  readonly sender: Address;
  readonly nonce: bigint;
  readonly router: Address;
  readonly gas: bigint;
  readonly deadline: number;
  readonly data: Hex;
  readonly token: Address;
  readonly amount: bigint;
  /** The escrow, or the bridge's solver. */
  readonly recipient: Address;
  readonly bridge: BridgeLeg | null;
  readonly status: AuthorizationStatus;
  readonly signature: Hex | null;
  readonly txHash: Hex | null;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
  /** The transaction that paid the bridge: from then on the money is with its solver. Only of a send-out. */
  readonly depositTxHash: Hex | null;
  readonly depositedAt: Date | null;
}

/** Enough for the router with any of the tokens, and a known bound for the account that submits it. */
export const RECOMMENDED_GAS = 300_000n;
/** Long enough for a person with a hardware wallet, short enough that a request that fails does not block for long. */
export const RECOMMENDED_TTL_SECONDS = 600;

export function requestOf(authorization: Authorization): ForwardRequest {
  const { sender, router, nonce, deadline, gas, data } = authorization;
  return { from: sender, to: router, value: 0n, nonce, deadline, gas, data };
}

type ContextSettings = Pick<ChainSettings, 'chainId' | 'contracts'>;

/** The contracts a request was issued for, even if the configuration has others by now. */
export function contextOf(
  settings: ContextSettings,
  { chainId, forwarder, router }: Authorization,
): ContextSettings {
  return { chainId, contracts: { ...settings.contracts, forwarder, router } };
}

type ParameterSettings = ContextSettings & Pick<ChainSettings, 'publicRpcUrl'>;

export function transferParameters(
  settings: ParameterSettings,
  token: ChainToken,
  authorization: Authorization,
): Static<typeof TransferAuthorizationParametersSchema> {
  return {
    ...commonParameters(settings, token, authorization, 'authorize-crypto-transfer'),
    escrow_address: authorization.recipient,
  };
}

export function bridgeParameters(
  settings: ParameterSettings,
  token: ChainToken,
  authorization: Authorization,
): Static<typeof BridgeAuthorizationParametersSchema> {
  const { bridge } = authorization;
  if (bridge === null) throw new Error('an authorization of a send-out has a destination');
  return {
    ...commonParameters(settings, token, authorization, 'authorize-bridge'),
    solver_address: authorization.recipient,
    quote_id: bridge.quoteId,
    to_amount: bridge.toAmount,
    destination_chain: bridge.destinationChain,
    destination_address: bridge.destinationAddress,
  };
}

function commonParameters(
  settings: ParameterSettings,
  token: ChainToken,
  authorization: Authorization,
  action: string,
) {
  const request = routerRequest(contextOf(settings, authorization), {
    from: authorization.sender,
    nonce: authorization.nonce,
    deadline: authorization.deadline,
    gas: authorization.gas,
    data: authorization.data,
  });
  const { domain, types, primaryType } = forwardTypedData(contextOf(settings, authorization), request);
  return {
    order_id: authorization.orderId,
    chain_id: settings.chainId,
    rpc_url: settings.publicRpcUrl,
    token_address: authorization.token,
    forwarder_address: authorization.forwarder,
    sender_address: authorization.sender,
    amount_atomic: `${authorization.amount}`,
    amount_human: formatFixed(authorization.amount, token.decimals),
    crypto_currency: token.code,
    crypto_decimals: token.decimals,
    recommended_gas: `${authorization.gas}`,
    recommended_ttl: Math.floor(
      (authorization.expiresAt.getTime() - authorization.issuedAt.getTime()) / 1_000,
    ),
    transfer_data: authorization.data,
    forwarder_nonce: `${authorization.nonce}`,
    expires_at: authorization.expiresAt.toISOString(),
    authorization_path: `/api/v1/partner/orders/${authorization.orderId}/${action}`,
    forward_request: wireRequest(request),
    eip712_domain: { ...domain },
    types: { ForwardRequest: types.ForwardRequest.map(({ name, type }) => ({ name, type })) },
    primary_type: primaryType,
  };
}

function wireRequest({ from, to, value, gas, nonce, deadline, data }: ForwardRequest) {
  return {
    from,
    to,
    value: `${value}`,
    gas: `${gas}`,
    nonce: `${nonce}`,
    deadline: `${deadline}`,
    data,
  };
}

export type GivenRequest = Static<typeof ForwardRequestInput>;

/** The first field that is not what was issued, or undefined where all are. */
export function differingField(
  authorization: Authorization,
  given: GivenRequest,
): keyof GivenRequest | undefined {
  const issued = wireRequest(requestOf(authorization));
  const isSame: Record<keyof GivenRequest, boolean> = {
    from: sameAddress(issued.from, given.from),
    to: sameAddress(issued.to, given.to),
    value: sameNumber(issued.value, given.value),
    gas: sameNumber(issued.gas, given.gas),
    nonce: sameNumber(issued.nonce, given.nonce),
    deadline: sameNumber(issued.deadline, given.deadline),
    data: issued.data.toLowerCase() === given.data.toLowerCase(),
  };
  return (Object.keys(isSame) as (keyof GivenRequest)[]).find((field) => !isSame[field]);
}

/** The issued request that was sent back unchanged; otherwise an error that names the field that was changed. */
export function matchIssued(issued: readonly Authorization[], given: GivenRequest): Authorization {
  const differences = issued.map((authorization) => differingField(authorization, given));
  const match = issued[differences.indexOf(undefined)];
  if (match !== undefined) return match;
  const [field] = differences;
  throw new CausewayError('INVALID_FORWARD_REQUEST', {
    details: field === undefined ? {} : { field },
  });
}

// Leading zeros or a hexadecimal spelling would still be the same number, but never what was issued.
function sameNumber(issued: string, given: string): boolean {
  return issued === given;
}
