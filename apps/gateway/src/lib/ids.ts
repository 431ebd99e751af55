import { randomFillSync } from 'node:crypto';

/** Makes row ids and event ids; ids of one generator sort in the order in which they were made. */
export interface IdGenerator {
  /** A uuid version 7 in lower case. */
  uuid(): string;
  /** `evt_` followed by a uuid version 7. */
  eventId(): string;
}

const COUNTER_BITS = 26;
const COUNTER_LIMIT = 2 ** COUNTER_BITS;
const COUNTER_SEED_MASK = COUNTER_LIMIT / 2 - 1;
const TIMESTAMP_LIMIT = 2 ** 48;
const RANDOM_TAIL_BYTES = 6;
const COUNTER_SEED_BYTES = 4;
const POOL_BYTES = 4096;

const UUID_PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * Layout after RFC 9562, section 6.2, method 1: 48 bits of milliseconds, a 26-bit counter (all of rand_a and the
 * start of rand_b) and 48 random bits. The counter starts at a random value below half of its range in every new
 * millisecond, so there is always room for 33 million ids before a millisecond has to be borrowed.
 *
 * The wall clock is the default because the time inside an id only orders it: nothing may read business time from it.
 */
export function createIdGenerator(nowMilliseconds: () => number = Date.now): IdGenerator {
  const pool = Buffer.alloc(POOL_BYTES);
  let poolOffset = POOL_BYTES;
  const bytes = Buffer.alloc(16);
  let lastMilliseconds = -1;
  let counter = 0;

  function takeRandom(length: number): number {
    if (poolOffset + length > POOL_BYTES) {
      randomFillSync(pool);
      poolOffset = 0;
    }
    const start = poolOffset;
    poolOffset += length;
    return start;
  }

  function startMillisecond(milliseconds: number): void {
    if (!(milliseconds >= 0 && milliseconds < TIMESTAMP_LIMIT)) {
      throw new RangeError(`a uuid version 7 cannot hold the time ${milliseconds}`);
    }
    lastMilliseconds = milliseconds;
    counter = pool.readUInt32BE(takeRandom(COUNTER_SEED_BYTES)) & COUNTER_SEED_MASK;
  }

  function uuid(): string {
    const milliseconds = Math.floor(nowMilliseconds());
    // A clock that stands still or steps back must not make an id that sorts before the last one.
    if (!(milliseconds <= lastMilliseconds)) startMillisecond(milliseconds);
    else if (counter + 1 < COUNTER_LIMIT) counter += 1;
    else startMillisecond(lastMilliseconds + 1);

    bytes.writeUIntBE(lastMilliseconds, 0, 6);
    bytes.writeUInt16BE(0x7000 | (counter >>> 14), 6);
    bytes.writeUInt16BE(0x8000 | (counter & 0x3fff), 8);
    const tail = takeRandom(RANDOM_TAIL_BYTES);
    pool.copy(bytes, 10, tail, tail + RANDOM_TAIL_BYTES);
    const hex = bytes.toString('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  }

  return { uuid, eventId: () => `evt_${uuid()}` };
}

// One generator for the whole process: ids are only ordered among those of the same generator.
const processIds = createIdGenerator();

/** A new row id (uuid version 7), later than every id this process made before. */
export function newId(): string {
  return processIds.uuid();
}

/** A new event id: `evt_` followed by a uuid version 7. */
export function newEventId(): string {
  return processIds.eventId();
}

/** Whether the text has the form of a uuid, of any version and variant, in either case. */
export function isUuid(text: string): boolean {
  return text.length === 36 && UUID_PATTERN.test(text);
}
