export { parseHoldCall } from './hold.wire.ts';
export { type MatchCall, matchOutcomeToWire, parseMatchCall } from './match.wire.ts';
export { parseWireRows, toWireRows, type WireOfferRows } from './offer-rows.wire.ts';
export { WireFormatError } from './wire-format.error.ts';
