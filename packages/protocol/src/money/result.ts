/**
 * How every parser and price answers: a value, or a reason that a route turns into an error on a named field.
 * Refusing is an expected outcome here, so it is a value and not an exception.
 */
export type Result<Value, Reason extends string> = Accepted<Value> | Refused<Reason>;

export interface Accepted<Value> {
  readonly ok: true;
  readonly value: Value;
}

export interface Refused<Reason extends string> {
  readonly ok: false;
  readonly reason: Reason;
}

export function accept<Value>(value: Value): Accepted<Value> {
  return { ok: true, value };
}

export function refuse<Reason extends string>(reason: Reason): Refused<Reason> {
  return { ok: false, reason };
}
