import type {
  EmailCodeSchema,
  KycDocumentInput,
  KycDocumentSchema,
  KycSubmissionInput,
  KycSubmissionSchema,
  PaymentDetailsInput,
  PaymentDetailsListSchema,
  PaymentDetailsSchema,
  RefundAuthorizationParametersSchema,
  StartedWidgetSessionSchema,
  TransferAuthorizationParametersSchema,
  WidgetEstimateSchema,
  WidgetFundingSchema,
  WidgetKycSchema,
  WidgetOrderSchema,
  WidgetPricingInput,
  WidgetQuoteInput,
  WidgetQuoteSchema,
  WidgetSessionInput,
  WidgetSessionSchema,
} from '@causeway/protocol';
import type { Static } from 'typebox';

export type Session = Static<typeof WidgetSessionSchema>;
export type Order = Static<typeof WidgetOrderSchema>;
export type Quote = Static<typeof WidgetQuoteSchema>;
export type Estimate = Static<typeof WidgetEstimateSchema>;
export type Kyc = Static<typeof WidgetKycSchema>;
export type Funding = Static<typeof WidgetFundingSchema>;
export type PaymentDetails = Static<typeof PaymentDetailsSchema>;
export type TransferParameters = Static<typeof TransferAuthorizationParametersSchema>;
export type PayoutParameters = Static<typeof RefundAuthorizationParametersSchema>;
export type EmailCode = Static<typeof EmailCodeSchema>;

/** What the service refused, or why it was not reached: `code` is the API’s, or NETWORK where there was no answer. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: string;
  readonly status: number;
  readonly details: unknown;
  readonly requestId: string | null;

  constructor(code: string, message: string, status: number, details: unknown, requestId: string | null) {
    super(message);
    this.code = code;
    this.status = status;
    this.details = details;
    this.requestId = requestId;
  }
}

const TRIES = 3;
const RETRY_MS = 400;
const TIMEOUT_MS = 30_000;
/** A picture takes its time on a slow line. */
const UPLOAD_TIMEOUT_MS = 120_000;

interface Request {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly key: string | null;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number;
}

/**
 * One call of the service. A write carries an idempotency key, so that it may be repeated like a read where the answer was
 * lost on its way; what the service refused is not repeated.
 */
async function send<T>({ method, path, key, body, signal, timeoutMs = TIMEOUT_MS }: Request): Promise<T> {
  const headers: Record<string, string> = { accept: 'application/json' };
  if (key !== null) headers.authorization = `Bearer ${key}`;
  if (method === 'POST') headers['idempotency-key'] = crypto.randomUUID();
  if (body !== undefined) headers['content-type'] = 'application/json';
  for (let attempt = 1; ; attempt++) {
    const ending = endingWith(signal, timeoutMs);
    try {
      const response = await fetch(path, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: ending.signal,
        credentials: 'omit',
        cache: 'no-store',
      });
      const answer = answerIn<T>(await response.text(), response.ok);
      if (!isUndecided(response.status, answer) || attempt >= TRIES) return dataOf(response, answer);
    } catch (error) {
      if (error instanceof ApiError) throw error;
      if (signal?.aborted === true) throw error;
      if (attempt >= TRIES)
        throw new ApiError('NETWORK', 'The service cannot be reached.', 0, undefined, null);
    } finally {
      ending.clear();
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS * attempt));
  }
}

/** Ends by itself or with the caller’s: browsers of 2023 have nothing ready for both at once. */
function endingWith(outer: AbortSignal | undefined, ms: number) {
  const controller = new AbortController();
  const end = () => controller.abort();
  const timer = setTimeout(end, ms);
  if (outer?.aborted === true) end();
  outer?.addEventListener('abort', end);
  return {
    signal: controller.signal,
    clear() {
      clearTimeout(timer);
      outer?.removeEventListener('abort', end);
    },
  };
}

interface Answer<T> {
  readonly success?: boolean;
  readonly data?: T;
  readonly error?: { readonly code?: string; readonly message?: string; readonly details?: unknown };
}

/** A success whose text has no end was lost like one that never came; a refusal may be a proxy’s, in words of its own. */
function answerIn<T>(text: string, isOk: boolean): Answer<T> {
  try {
    return JSON.parse(text) as Answer<T>;
  } catch (error) {
    if (isOk) throw error;
    return {};
  }
}

const GATEWAY_FAILURES = [502, 503, 504];

/** The service may have done what was asked, or be about to: the same request gets the answer to it. */
function isUndecided(status: number, { error }: Answer<unknown>): boolean {
  return GATEWAY_FAILURES.includes(status) || error?.code === 'IDEMPOTENCY_IN_PROGRESS';
}

function dataOf<T>({ ok, status, headers }: Response, answer: Answer<T>): T {
  if (ok && answer.success === true) return answer.data as T;
  const { code = 'INTERNAL_ERROR', message = 'Something went wrong.', details } = answer.error ?? {};
  throw new ApiError(code, message, status, details, headers.get('x-request-id'));
}

const BASE = '/api/v1/widget';

/** A session is begun with the publishable key, or with the code of a session that the partner’s server has made. */
export const begin = {
  withKey: (widgetKey: string, input: Static<typeof WidgetSessionInput>) =>
    send<Static<typeof StartedWidgetSessionSchema>>({
      method: 'POST',
      path: `${BASE}/sessions`,
      key: widgetKey,
      body: input,
    }),
  withCode: (sessionId: string, code: string) =>
    send<Static<typeof StartedWidgetSessionSchema>>({
      method: 'POST',
      path: `${BASE}/sessions/${encodeURIComponent(sessionId)}/token`,
      key: null,
      body: { code },
    }),
};

/** Everything that a session can do, as its own customer. */
export function createApi(token: string) {
  const get = <T>(path: string, signal?: AbortSignal) =>
    send<T>({ method: 'GET', path: `${BASE}/session${path}`, key: token, signal });
  const post = <T>(path: string, body?: unknown, signal?: AbortSignal) =>
    send<T>({ method: 'POST', path: `${BASE}/session${path}`, key: token, body, signal });
  const order = (orderId: string, rest = '') => `/orders/${encodeURIComponent(orderId)}${rest}`;
  return {
    session: (signal?: AbortSignal) => get<Session>('', signal),
    signOut: () => post<Session>('/sign-out'),
    requestEmailCode: (email: string) => post<EmailCode>('/email-code', { email }),
    identify: (email: string, code: string) => post<Session>('/identify', { email, code }),
    kyc: (signal?: AbortSignal) => get<Kyc>('/kyc', signal),
    submitKyc: (input: Static<typeof KycSubmissionInput>) =>
      post<Static<typeof KycSubmissionSchema>>('/kyc', input),
    uploadDocument: (input: Static<typeof KycDocumentInput>) =>
      send<Static<typeof KycDocumentSchema>>({
        method: 'POST',
        path: `${BASE}/session/kyc/documents`,
        key: token,
        body: input,
        timeoutMs: UPLOAD_TIMEOUT_MS,
      }),
    paymentDetails: () => get<Static<typeof PaymentDetailsListSchema>>('/payment-details'),
    addPaymentDetails: (input: Static<typeof PaymentDetailsInput>) =>
      post<PaymentDetails>('/payment-details', input),
    estimate: (input: Static<typeof WidgetPricingInput>, signal?: AbortSignal) =>
      post<Estimate>('/estimates', input, signal),
    quote: (input: Static<typeof WidgetQuoteInput>, signal?: AbortSignal) =>
      post<Quote>('/quotes', input, signal),
    openOrder: (quoteId: string, walletAddress: string) =>
      post<Order>('/orders', { quote_id: quoteId, wallet_address: walletAddress }),
    order: (orderId: string, signal?: AbortSignal) => get<Order>(order(orderId), signal),
    cancel: (orderId: string) => post<Order>(order(orderId, '/cancel')),
    confirmPaymentSent: (orderId: string) => post<Order>(order(orderId, '/confirm-payment-sent')),
    confirmFiatReceived: (orderId: string) => post<Order>(order(orderId, '/confirm-fiat-received')),
    submitPayerDetails: (orderId: string, details: Readonly<Record<string, string>>) =>
      post<Order>(order(orderId, '/submit-payer-details'), { payment_details: details }),
    funding: (orderId: string) => get<Funding>(order(orderId, '/funding')),
    transferParameters: (orderId: string) =>
      get<TransferParameters>(order(orderId, '/transfer-authorization-parameters')),
    authorizeTransfer: (
      orderId: string,
      forwardRequest: TransferParameters['forward_request'],
      signature: string,
    ) =>
      post<Order>(order(orderId, '/authorize-crypto-transfer'), {
        forward_request: forwardRequest,
        signature,
      }),
    payoutParameters: (orderId: string, purpose: 'refund' | 'release') =>
      get<PayoutParameters>(order(orderId, `/${purpose}-authorization-parameters`)),
    authorizePayout: (orderId: string, purpose: 'refund' | 'release', signature: string) =>
      post<Order>(order(orderId, `/authorize-${purpose}`), { signature }),
  };
}

export type Api = ReturnType<typeof createApi>;

/** Listings of countries, rails, institutions and currencies are public and the same for every session. `T` is their data. */
export function discover<T>(path: string, signal?: AbortSignal): Promise<T> {
  return send<T>({ method: 'GET', path: `/api/v1/supported/${path}`, key: null, signal });
}
