import { defineMachine, type MachineDefinition, NEW, type New } from '@causeway/protocol';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { insertPartner, openTestDatabase, type TestDatabase } from '../../../../test/harness/database.ts';
import { orderChanged } from '../../../../test/harness/events.ts';
import { SYSTEM } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import { createClock } from '../lib/clock.ts';
import { createIdGenerator } from '../lib/ids.ts';
import { type Execution, execute, type MachineAdapter } from './execute.ts';
import { unitOfWork } from './unit-of-work.ts';

type Status = 'open' | 'paid' | 'settled' | 'held';
type Trigger = 'opened' | 'paid' | 'settled' | 'held' | 'touched';
interface Facts {
  cleared: boolean;
  solvent: boolean;
  touches: number;
}
type Guard = 'is_cleared' | 'is_solvent';

const definition: MachineDefinition<Status, Trigger, Facts, Guard> = {
  name: 'test',
  title: 'A machine with one row for each thing the executor can do',
  statuses: {
    open: { says: 'open', published: true, terminal: false },
    paid: { says: 'paid', published: true, terminal: false },
    settled: { says: 'settled', published: true, terminal: true },
    held: { says: 'held', published: true, terminal: true },
  },
  guards: {
    is_cleared: {
      code: 'KYC_NOT_CLEARED',
      says: 'cleared',
      reads: ['cleared'],
      holds: ({ cleared }) => cleared,
      onRefusal: 'held',
    },
    is_solvent: {
      code: 'OPERATION_NOT_ALLOWED',
      says: 'solvent',
      reads: ['solvent'],
      holds: ({ solvent }) => solvent,
    },
  },
  transitions: [
    { from: NEW, on: 'opened', by: ['partner'], to: 'open', emits: ['order.status.changed'], spec: '' },
    {
      from: 'open',
      on: 'paid',
      by: ['chain'],
      guard: ['is_cleared'],
      to: 'paid',
      emits: ['order.status.changed'],
      posts: 'vendor_escrow_funded',
      effects: ['escrow.release', 'kyc.verify'],
      follow: 'settled',
      spec: '',
    },
    { from: 'paid', on: 'paid', by: ['chain'], to: 'paid', emits: [], noop: true, spec: '' },
    {
      from: 'paid',
      on: 'settled',
      by: ['system'],
      guard: ['is_solvent'],
      to: 'settled',
      emits: ['order.status.changed'],
      spec: '',
    },
    { from: 'open', on: 'held', by: ['system'], to: 'held', emits: ['order.status.changed'], spec: '' },
    { from: 'open', on: 'touched', by: ['clock'], to: 'open', emits: [], counts: 'touches', spec: '' },
  ],
};

interface Row {
  readonly id: string;
  readonly status: Status | New;
  readonly facts: Facts;
}

const PARTNER = '00000000-0000-7000-8000-000000000001';
const saveRow = statement<[name: string, value: string]>(
  'test.machine_save',
  `INSERT INTO deployment_facts (name, value, updated_at) VALUES ($1, $2::jsonb, 'epoch')
   ON CONFLICT (name) DO UPDATE SET value = deployment_facts.value || excluded.value`,
);

const adapter: MachineAdapter<Row, Status, Trigger, Facts, Guard> = {
  machine: defineMachine(definition),
  statusOf: ({ status }) => status,
  factsOf: ({ facts }) => facts,
  write(unit, row, { status, facts, statusChanged }) {
    unit.tx.defer(saveRow, [row.id, JSON.stringify([{ status, touches: facts.touches, statusChanged }])]);
    return { ...row, status, facts };
  },
  // The statuses of this machine are none of an order's; one field of the event stands for them.
  eventFor: ({ id, status }) => ({
    eventType: 'order.status.changed',
    partnerId: PARTNER,
    subjectId: id,
    data: orderChanged({ provider: status }),
  }),
  intentFor({ id }, effect) {
    const about = { dedupeKey: `${effect}:${id}`, partnerId: PARTNER };
    return effect === 'kyc.verify'
      ? { ...about, kind: effect, payload: { user_id: id } }
      : { ...about, kind: 'escrow.release', payload: { order_id: id } };
  },
  entryFor: ({ id }, posting) => ({
    kind: posting,
    dedupeKey: `${posting}:${id}`,
    partnerId: PARTNER,
    orderId: id,
    postings: [
      { account: 'a', asset: 'USDC', amount: 1n },
      { account: 'b', asset: 'USDC', amount: -1n },
    ],
  }),
};

describe('the executor', () => {
  const ids = createIdGenerator();
  let database: TestDatabase;
  let row: Row;

  beforeAll(async () => {
    database = await openTestDatabase();
    await insertPartner(database.owner, PARTNER, { webhookEnabled: true });
  });
  afterAll(() => database?.close());
  beforeEach(() => {
    row = { id: ids.uuid(), status: 'open', facts: { cleared: true, solvent: true, touches: 0 } };
  });

  const run = (
    from: Row,
    trigger: Trigger,
    actor: 'chain' | 'system' | 'clock' | 'partner',
  ): Promise<Execution<Row>> =>
    unitOfWork({ db: database.db, clock: createClock(), ids }, SYSTEM, async (unit) =>
      execute(unit, adapter, from, trigger, actor),
    );

  async function written() {
    const ask = async (sql: string) =>
      (await database.owner.query(sql, [row.id])).rows.map((found) => found.what);
    return {
      rows: (await ask('SELECT value AS what FROM deployment_facts WHERE name = $1')).flat(),
      events: await ask(
        `SELECT body::jsonb->'data'->>'provider' AS what FROM events WHERE subject_id = $1::uuid ORDER BY position`,
      ),
      intents: await ask(
        `SELECT kind AS what FROM intents WHERE dedupe_key LIKE '%:' || $1 AND kind <> 'webhook.deliver' ORDER BY kind`,
      ),
      entries: await ask('SELECT kind AS what FROM ledger_entries WHERE order_id = $1::uuid'),
    };
  }
  const nothing = { rows: [], events: [], intents: [], entries: [] };

  it('writes everything a transition says, and what follows from it, exactly once and in order', async () => {
    const done = await run(row, 'paid', 'chain');
    expect(done).toMatchObject({ kind: 'moved', row: { status: 'settled' } });
    expect(await written()).toEqual({
      rows: [
        { status: 'paid', touches: 0, statusChanged: true },
        { status: 'settled', touches: 0, statusChanged: true },
      ],
      events: ['paid', 'settled'],
      intents: ['escrow.release', 'kyc.verify'],
      entries: ['vendor_escrow_funded'],
    });
  });

  it('stays where the transition led when what follows is refused', async () => {
    const stuck = { ...row, facts: { ...row.facts, solvent: false } };
    expect(await run(stuck, 'paid', 'chain')).toMatchObject({ kind: 'moved', row: { status: 'paid' } });
    expect((await written()).events).toEqual(['paid']);
  });

  it('writes nothing for a trigger that repeats what is known', async () => {
    const paid: Row = { ...row, status: 'paid' };
    expect(await run(paid, 'paid', 'chain')).toEqual({ kind: 'unchanged', row: paid });
    expect(await written()).toEqual(nothing);
  });

  it('writes nothing when it refuses: no row in the table, or the wrong actor', async () => {
    expect(await run(row, 'settled', 'system')).toEqual({ kind: 'refused', code: 'INVALID_STATUS', row });
    expect(await run(row, 'paid', 'partner')).toEqual({
      kind: 'refused',
      code: 'OPERATION_NOT_ALLOWED',
      row,
    });
    expect(await written()).toEqual(nothing);
  });

  it('records the fact that a refusal itself is, and still refuses', async () => {
    const suspect = { ...row, facts: { ...row.facts, cleared: false } };
    expect(await run(suspect, 'paid', 'chain')).toMatchObject({
      kind: 'refused',
      code: 'KYC_NOT_CLEARED',
      guard: 'is_cleared',
      row: { status: 'held' },
    });
    expect(await written()).toMatchObject({ events: ['held'], intents: [], entries: [] });
  });

  it('a self-transition changes facts and marks no change of status', async () => {
    expect(await run(row, 'touched', 'clock')).toMatchObject({
      row: { status: 'open', facts: { touches: 1 } },
    });
    expect((await written()).rows).toEqual([{ status: 'open', touches: 1, statusChanged: false }]);
  });

  it('starts a subject that did not exist', async () => {
    const fresh: Row = { ...row, status: NEW };
    expect(await run(fresh, 'opened', 'partner')).toMatchObject({ kind: 'moved', row: { status: 'open' } });
    expect((await written()).events).toEqual(['open']);
  });

  it('two units that see the same row give one effect and one entry', async () => {
    await Promise.all([run(row, 'paid', 'chain'), run(row, 'paid', 'chain')]);
    expect(await written()).toMatchObject({
      intents: ['escrow.release', 'kyc.verify'],
      entries: ['vendor_escrow_funded'],
    });
  });
});
