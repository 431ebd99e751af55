import { V7Generator } from 'uuidv7';

/** Makes row ids and event ids; ids of one generator sort in the order in which they were made. */
export interface IdGenerator {
  /** A uuid version 7 in lower case. */
  uuid(): string;
  /** `evt_` followed by a uuid version 7. */
  eventId(): string;
}

const TIMESTAMP_MAX = 2 ** 48 - 1;

const UUID_PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * Milliseconds, a 42-bit counter that starts at a random value in every new millisecond, and 32 random bits (RFC 9562,
 * section 6.2, method 1). The wall clock is the default because the time inside an id only orders it: nothing may read
 * business time from it.
 */
export function createIdGenerator(nowMilliseconds: () => number = Date.now): IdGenerator {
  const generator = new V7Generator();
  // However far the clock steps back, an id must not sort before the last one.
  generator.setRollbackAllowance(TIMESTAMP_MAX);
  const uuid = () => generator.generateOrResetWithTs(Math.floor(nowMilliseconds())).toString();
  return { uuid, eventId: () => `evt_${uuid()}` };
}

// One generator for the whole process: ids are only ordered among those of the same generator.
const processIds = createIdGenerator();

/** A new row id (uuid version 7), later than every id this process made before. */
export function newId(): string {
  return processIds.uuid();
}

/** Whether the text has the form of a uuid, of any version and variant, in either case. */
export function isUuid(text: string): boolean {
  return text.length === 36 && UUID_PATTERN.test(text);
}
