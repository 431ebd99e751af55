export { type MatchCall, matchOutcomeToWire, parseMatchCall, parseReservationCall } from './calls.wire.ts';
export { parseWireRows, toWireRows, type WireOfferRows } from './offer-rows.wire.ts';
export { WireFormatError } from './wire-format.error.ts';
