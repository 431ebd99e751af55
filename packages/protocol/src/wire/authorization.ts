import { Type } from 'typebox';
import { DecimalString, EvmAddress, Timestamp, Uuid } from './common.ts';

/** What a partner signs with its wallet, and what it sends back. Numbers of the chain are decimal strings. */

const HexData = Type.String({ pattern: '^0x([0-9a-fA-F]{2})*$' });
const AtomicString = Type.String({ pattern: '^[0-9]{1,78}$', description: 'In atomic units' });

export const TypedDataFieldSchema = Type.Object({ name: Type.String(), type: Type.String() });
const typedDataTypes = Type.Record(Type.String(), Type.Array(TypedDataFieldSchema));

export const ForwardRequestSchema = Type.Object({
  from: EvmAddress,
  to: EvmAddress,
  value: AtomicString,
  gas: AtomicString,
  nonce: AtomicString,
  deadline: AtomicString,
  data: HexData,
});

/** As it comes in: every field a string of any kind, so that a wrong one is named instead of failing the whole body. */
export const ForwardRequestInput = Type.Object({
  from: Type.String({ maxLength: 100 }),
  to: Type.String({ maxLength: 100 }),
  value: Type.String({ maxLength: 100 }),
  gas: Type.String({ maxLength: 100 }),
  nonce: Type.String({ maxLength: 100 }),
  deadline: Type.String({ maxLength: 100 }),
  data: Type.String({ maxLength: 10_000 }),
});

const commonParameters = {
  order_id: Uuid,
  chain_id: Type.Integer(),
  rpc_url: Type.String({ description: 'A public node of the chain' }),
  token_address: EvmAddress,
  forwarder_address: EvmAddress,
  sender_address: EvmAddress,
  amount_atomic: AtomicString,
  amount_human: DecimalString,
  crypto_currency: Type.String(),
  crypto_decimals: Type.Integer(),
  recommended_gas: AtomicString,
  recommended_ttl: Type.Integer({ description: 'Seconds' }),
  transfer_data: HexData,
  forwarder_nonce: AtomicString,
  expires_at: Timestamp,
  authorization_path: Type.String(),
  forward_request: ForwardRequestSchema,
  eip712_domain: Type.Object({
    name: Type.String(),
    version: Type.String(),
    chainId: Type.Integer(),
    verifyingContract: EvmAddress,
  }),
  types: typedDataTypes,
  primary_type: Type.Literal('ForwardRequest'),
};

export const TransferAuthorizationParametersSchema = Type.Object({
  ...commonParameters,
  escrow_address: EvmAddress,
});

export const BridgeAuthorizationParametersSchema = Type.Object({
  ...commonParameters,
  solver_address: EvmAddress,
  quote_id: Type.String({ description: 'Bridge quote id, as the calldata carries it' }),
  to_amount: AtomicString,
  destination_chain: Type.String(),
  destination_address: EvmAddress,
});

export const SafeTypedDataSchema = Type.Object({
  domain: Type.Object({ chainId: Type.Integer(), verifyingContract: EvmAddress }),
  types: typedDataTypes,
  primaryType: Type.Literal('SafeTx'),
  message: Type.Object({
    to: EvmAddress,
    value: AtomicString,
    data: HexData,
    operation: Type.Integer(),
    safeTxGas: AtomicString,
    baseGas: AtomicString,
    gasPrice: AtomicString,
    gasToken: EvmAddress,
    refundReceiver: EvmAddress,
    nonce: AtomicString,
  }),
});

/** The Safe's own typed data: pass domain, types, primaryType and message to the wallet as they are. */
export const RefundAuthorizationParametersSchema = Type.Object({
  order_id: Uuid,
  chain_id: Type.Integer(),
  rpc_url: Type.String(),
  escrow_address: EvmAddress,
  token_address: EvmAddress,
  amount_atomic: AtomicString,
  amount_human: DecimalString,
  crypto_currency: Type.String(),
  crypto_decimals: Type.Integer(),
  signer_address: EvmAddress,
  recipient_address: EvmAddress,
  safe_tx_hash: HexData,
  typed_data: SafeTypedDataSchema,
  authorization_path: Type.String(),
});

/** What an owner of an escrow signs to return a mismatched deposit. */
export const DepositReturnParametersSchema = Type.Object({
  deposit_id: Uuid,
  order_id: Uuid,
  chain_id: Type.Integer(),
  rpc_url: Type.String(),
  escrow_address: EvmAddress,
  token_address: EvmAddress,
  amount_atomic: AtomicString,
  recipient_address: EvmAddress,
  signer_addresses: Type.Array(EvmAddress, {
    description: 'Any one of them signs; the service adds its own',
  }),
  safe_tx_hash: HexData,
  typed_data: SafeTypedDataSchema,
});
