import type { ErrorCode } from '@causeway/protocol';
import type { FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import type { Static, TSchema } from 'typebox';
import type { Statement } from '../db/statement.ts';
import type { UnitDeps, UnitOfWork } from '../engine/unit-of-work.ts';
import type { ConsolePrincipal } from './console-sessions.ts';
import type { OutsideWork } from './idempotency.ts';
import type {
  OperatorPrincipal,
  PartnerPrincipal,
  SessionPrincipal,
  VendorPrincipal,
  WidgetPrincipal,
} from './principals.ts';
import type { SecondApproval } from './second-approval.ts';

/**
 * How a route is declared: one schema validates, types, serialises and documents it. A handler returns the
 * data; the envelope, the transaction and the idempotency key are not its business.
 */
export interface RouteSpec<P extends TSchema, Q extends TSchema, B extends TSchema, D extends TSchema> {
  readonly method: HTTPMethods;
  readonly url: string;
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** No part of the described API: the console’s own. */
  readonly hidden?: true;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** The shape of `data`; only what it names leaves the process. */
  readonly data: D;
  /** Codes this route can answer beyond those every route of its kind can. */
  readonly errors?: readonly ErrorCode[];
  /** Described only: what the handler reads from the request by itself, and judges. */
  readonly documented?: { readonly body?: TSchema; readonly headers?: TSchema };
  /**
   * Throws where what the path names is not there for this caller. Asked before a request that does not fit is told so:
   * a caller that may not act on something learns nothing about how to.
   */
  readonly requireSubject?: (request: FastifyRequest) => Promise<void>;
  /** Taken in however much there is to do: its caller tells what has happened, and may not tell again. */
  readonly alwaysAdmitted?: true;
}

export interface RouteInput<P extends TSchema, Q extends TSchema, B extends TSchema> {
  readonly params: Static<P>;
  readonly query: Static<Q>;
  readonly body: Static<B>;
  readonly request: FastifyRequest;
}

export type Caller = {
  public: null;
  partner: PartnerPrincipal;
  widget: WidgetPrincipal;
  session: SessionPrincipal;
  vendor: VendorPrincipal;
  operator: OperatorPrincipal;
  /** Whoever is signed in, of any desk. */
  console: ConsolePrincipal;
};
export type CallerClass = keyof Caller;

/** For a write that is one statement: as a unit of work, but every statement runs at once and stands alone. */
export interface StatementRun {
  readonly ids: UnitDeps['ids'];
  readonly at: Date;
  query<P extends readonly unknown[], R>(declared: Statement<P, R>, params: P): Promise<R[]>;
}

/** What a handler gets to write with. */
interface WorkOf {
  /** A read, or a write that needs no idempotency: the handler opens what it needs itself. */
  none: undefined;
  /** One unit of work in the caller's own scope. Nothing may leave the process inside it; what must leave is an intent. */
  unit: UnitOfWork;
  /**
   * A write whose last statement alone decides and writes. Without an idempotency key it needs no transaction, which
   * saves opening and closing one; with a key the answer is stored in the same transaction as ever.
   */
  statement: StatementRun;
  /** The work leaves the process, so that no transaction can hold it. What it writes all the same, it says it has written. */
  outside: OutsideWork;
}
export type TransactionMode = keyof WorkOf;

/** Everything but `none` is answered once for an idempotency key. */
export interface RouteDeclaration<
  A extends CallerClass,
  M extends TransactionMode,
  P extends TSchema,
  Q extends TSchema,
  B extends TSchema,
  D extends TSchema,
  Acquired,
> extends RouteSpec<P, Q, B, D> {
  readonly access: A;
  readonly transaction: M;
  /** What units are made of; a route without a transaction needs none. */
  readonly deps?: M extends 'none' ? never : UnitDeps;
  /**
   * What the write rests on outside the process: read first, while no transaction waits, and judged in the unit. It
   * refuses nothing, so that a repeated key still gets its answer.
   */
  readonly readFirst?: (input: RouteInput<P, Q, B>) => Promise<Acquired>;
  /** Takes what the unit needs, hands it over, and gives it back where nothing came of the work. */
  readonly acquire?: <T>(
    input: RouteInput<P, Q, B>,
    caller: Caller[A],
    work: (acquired: Acquired) => Promise<T>,
  ) => Promise<T>;
  readonly handle: (
    input: RouteInput<P, Q, B>,
    caller: Caller[A],
    work: WorkOf[M],
    acquired: Acquired,
  ) => Promise<Static<D>> | Static<D>;
  /**
   * The call moves money: above the configured amount another person has to make it too. Only for operators, and in one
   * transaction.
   */
  readonly secondApproval?: A extends 'operator'
    ? M extends 'unit'
      ? SecondApproval<RouteInput<P, Q, B>>
      : never
    : never;
  /** What others must notice at once is told to them once it is committed. */
  readonly afterCommit?: () => Promise<void>;
  /** A read that has a second form: the same as server-sent events, for a client that accepts them. */
  readonly stream?: M extends 'none' ? EventStream<P, Q, B, Caller[A]> : never;
}

interface EventStream<P extends TSchema, Q extends TSchema, B extends TSchema, C> {
  /** The shape of one message's `data`. */
  readonly message: TSchema;
  readonly open: (
    input: RouteInput<P, Q, B>,
    caller: C,
    reply: FastifyReply,
  ) => Promise<FastifyReply> | FastifyReply;
}

// biome-ignore lint/suspicious/noExplicitAny: what serves every route serves every combination; `route` checks each.
export type AnyDeclaration = RouteDeclaration<any, any, any, any, any, any, any>;
