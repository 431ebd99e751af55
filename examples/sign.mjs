import { readFile } from 'node:fs/promises';
import { decodeFunctionData, isAddressEqual, parseAbi, parseUnits } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

/**
 * node examples/sign.mjs transfer <order id>   pays an off-ramp order: the wallet signs the transfer into the escrow
 * node examples/sign.mjs refund <order id>     takes the deposit of a stopped order back
 * node examples/sign.mjs send-out <order id> <destination chain> <destination address>
 */
// biome-ignore lint/style/noProcessEnv: a program of its own.
const home = process.env.CAUSEWAY_HOME ?? '.causeway';
const sandbox = JSON.parse(await readFile(`${home}/sandbox.json`, 'utf8'));
const [partner] = sandbox.partners;
// In production: a key store or a wallet service that signs EIP-712 typed data. The key never goes to the API.
const wallet = privateKeyToAccount(partner.wallet_private_key);

const ROUTER = parseAbi([
  'function fundEscrow(bytes32 orderId, address token, address escrow, uint256 amount)',
  'function depositToBridge(bytes32 bridgeQuoteId, address token, address solver, uint256 amount)',
]);

async function call(method, path, body) {
  const response = await fetch(sandbox.base_url + path, {
    method,
    headers: { 'x-api-key': partner.api_key, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const answer = await response.json();
  if (answer.success) return answer.data;
  throw Object.assign(new Error(`${path}: ${answer.error.message}`), { code: answer.error.code });
}

function require(isTrue, what) {
  if (!isTrue) throw new Error(`Not signed: ${what}.`);
}

/** A signature moves money: what is signed must be this order's deposit, and nothing else. */
function checkTransfer(order, parameters) {
  const { forward_request: request, crypto_decimals: decimals } = parameters;
  const { functionName, args } = decodeFunctionData({ abi: ROUTER, data: request.data });
  const [orderId, token, escrow, amount] = args;
  const owed =
    parseUnits(order.amounts.crypto_amount, decimals) + parseUnits(order.fee_breakdown.partner_fee, decimals);
  require(functionName === 'fundEscrow', 'another call');
  require(isAddressEqual(request.from, wallet.address), 'another wallet');
  require(BigInt(request.value) === 0n, 'coin besides the token');
  require(BigInt(orderId) === BigInt(`0x${order.order_id.replaceAll('-', '')}`), 'another order');
  require(isAddressEqual(token, parameters.token_address), 'another token');
  require(isAddressEqual(escrow, parameters.escrow_address), 'another payee');
  require(amount === owed, `the amount is ${amount}, not ${owed}`);
}

async function signTransfer(orderId) {
  const order = await call('GET', `/api/v1/partner/orders/${orderId}`);
  const parameters = await call('GET', `/api/v1/partner/orders/${orderId}/transfer-authorization-parameters`);
  checkTransfer(order, parameters);
  return call('POST', parameters.authorization_path, await signForward(parameters));
}

async function signForward({ forward_request, eip712_domain: domain, types, primary_type: primaryType }) {
  const signature = await wallet.signTypedData({ domain, types, primaryType, message: forward_request });
  return { forward_request, signature };
}

async function signSendOut(orderId, chain, address) {
  const destination = { destination_chain: chain, destination_address: address };
  const query = new URLSearchParams(destination);
  const parameters = await call(
    'GET',
    `/api/v1/partner/orders/${orderId}/bridge-authorization-parameters?${query}`,
  );
  const { functionName, args } = decodeFunctionData({ abi: ROUTER, data: parameters.forward_request.data });
  require(functionName === 'depositToBridge', 'another call');
  require(isAddressEqual(args[2], parameters.solver_address), 'another payee');
  require(args[3] === BigInt(parameters.amount_atomic), 'another amount');
  return call('POST', parameters.authorization_path, { ...destination, ...(await signForward(parameters)) });
}

async function signRefund(orderId) {
  const parameters = await call('GET', `/api/v1/partner/orders/${orderId}/refund-authorization-parameters`);
  require(isAddressEqual(parameters.recipient_address, wallet.address), 'the refund goes elsewhere');
  const signature = await wallet.signTypedData(parameters.typed_data);
  return call('POST', parameters.authorization_path, { signature });
}

/** Nonces are one sequence a wallet: another order may have taken this one. Read the parameters again then. */
async function withFreshNonce(work, attempts = 10) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (error.code !== 'NONCE_ALREADY_USED' || attempt === attempts) throw error;
    }
  }
}

const [purpose, orderId, ...destination] = process.argv.slice(2);
const sign = { transfer: signTransfer, refund: signRefund, 'send-out': signSendOut }[purpose];
if (sign === undefined || orderId === undefined)
  throw new Error('Usage: sign.mjs transfer|refund|send-out <order id>');
const { status } = await withFreshNonce(() => sign(orderId, ...destination));
console.log(status);
