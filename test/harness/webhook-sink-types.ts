import type { IncomingHttpHeaders } from 'node:http';

/** What the sink does to one request instead of simply answering 200. */
export type Fault =
  | { readonly kind: 'none' }
  /** Answers this status at once: 500, 503, 404, or another 2xx. */
  | { readonly kind: 'status'; readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  | { readonly kind: 'redirect'; readonly location: string; readonly status?: 301 | 302 | 303 | 307 | 308 }
  /** Reads everything and never answers. */
  | { readonly kind: 'hang' }
  /** Sends the headers of a 200 at once, then the body a byte at a time. */
  | { readonly kind: 'slow'; readonly bytes: number; readonly intervalMs: number }
  /** Sends even the status line and the headers a byte at a time. */
  | { readonly kind: 'slow-headers'; readonly intervalMs: number }
  /** Resets the connection (RST, not FIN) before the body is read, or after it is read and recorded. */
  | { readonly kind: 'reset'; readonly when: 'before-body' | 'after-body' }
  /** Promises more body than it sends, then closes the connection. */
  | { readonly kind: 'truncated' }
  /** A 200 with a body of this many bytes, sent as fast as the client reads. */
  | { readonly kind: 'huge'; readonly bytes: number }
  /** Decided once the delivery is known, e.g. by its attempt; a reset then comes after the body in any case. */
  | { readonly kind: 'by-delivery'; readonly choose: (delivery: ReceivedWebhook) => Fault };

type FaultKind = Exclude<Fault['kind'], 'by-delivery'>;

/** What is known when the headers have arrived. */
interface FaultRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Counted from 1 over the whole sink. */
  readonly requestNumber: number;
}

export type FaultChooser = (request: FaultRequest) => Fault;

export type FaultPlan =
  | Fault
  | FaultChooser
  /** With this probability a request meets one of the faults, each as likely as the other. */
  | { readonly probability: number; readonly mix: readonly Fault[] }
  /** One fault a request, in this order; nothing after the last. */
  | { readonly sequence: readonly Fault[] }
  | { readonly paths: Readonly<Record<string, FaultPlan>>; readonly otherwise?: FaultPlan };

export interface WebhookEnvelope {
  readonly event_id: string;
  readonly event_type: string;
  readonly created_at: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A request whose body arrived in full, whatever was answered to it. */
export interface ReceivedWebhook {
  /** Milliseconds by the sink's clock, when the body was complete. */
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawBody: Buffer;
  /** Null where the body is not an event's envelope. */
  readonly event: WebhookEnvelope | null;
  /** Null where the sink has no secret for this path. */
  readonly signatureValid: boolean | null;
  /** How often the sink has read this event_id, this time included; 1 where there is no event. */
  readonly attempt: number;
  /** What was done to the request; 'none' is a plain 200. */
  readonly fault: FaultKind;
}
