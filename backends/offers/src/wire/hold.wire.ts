import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { WireFormatError } from './wire-format.error.ts';

/** The body of `POST /holds`: the caller names the hold, so that asking again is asking for the same one. */
const WireHold = Type.Object({
  hold_id: Type.String({ pattern: '^[0-9A-Za-z-]{1,64}$' }),
  offer_id: Type.String({ minLength: 1, maxLength: 100 }),
  crypto: Type.String({ minLength: 1, maxLength: 80 }),
});
const wireHold = Compile(WireHold);

export function parseHoldCall(body: unknown): Static<typeof WireHold> {
  if (wireHold.Check(body)) return body;
  const [problem] = wireHold.Errors(body);
  throw new WireFormatError(problem?.instancePath ?? '', problem?.message ?? 'is not a hold');
}
