import { EFFECT_KINDS, PARTNER_EVENTS, VENDOR_EVENTS } from '@causeway/protocol';
import { describe, expect, it } from 'vitest';
import { orderChanged } from '../../../../test/harness/events.ts';
import type { Transaction } from '../db/database.ts';
import type { IdGenerator } from '../lib/ids.ts';
import { EFFECTS, effectOf, INTENT_KINDS, longestWaitMinutes, payloadProblem } from './effects.ts';
import { type IntentDraft, prepareIntent } from './intent.ts';
import { requireHandlers } from './intent-handler.ts';
import type { EventDraft } from './outbox.ts';

const ORDER = '0199aa9f-2f6e-7c41-9d0e-6b1f5a3c2d10';
const NOTHING_MORE = { bank: false, mail: false, sandbox: false, 'simulated bridge': false };
const EVERYTHING = { bank: true, mail: true, sandbox: true, 'simulated bridge': true };

const handlersOf = (kinds: readonly string[]) => Object.fromEntries(kinds.map((kind) => [kind, {}]));

describe('the registry of effects', () => {
  it('has everything that a machine can start, each with its texts', () => {
    expect(EFFECT_KINDS.filter((kind) => effectOf(kind) === undefined)).toEqual([]);
    for (const kind of INTENT_KINDS) {
      const texts = [EFFECTS[kind].does, EFFECTS[kind].stuck];
      expect(
        texts.every((text) => /^[A-Z].+\.$/.test(text)),
        kind,
      ).toBe(true);
    }
    expect(effectOf('toString')).toBeUndefined();
  });

  it('says of each how long it may wait before a person should know, and of some that nobody has to', () => {
    const hours = (kind: (typeof INTENT_KINDS)[number]) => longestWaitMinutes(kind) / 60;
    expect(INTENT_KINDS.filter((kind) => hours(kind) === 0.5)).toContain('escrow.release');
    expect(hours('bank.open-account')).toBe(120);
    expect(INTENT_KINDS.filter((kind) => hours(kind) === Number.POSITIVE_INFINITY)).toEqual([
      'vendor.offer-order',
      'bridge.track',
      'kyc.verify',
      'sandbox.solver-payout',
    ]);
  });

  it('says where a stored payload does not fit, without its values', () => {
    expect(payloadProblem('bridge.track', { order_id: ORDER, quote_id: '0xab' })).toBeUndefined();
    const problem = payloadProblem('bridge.track', { order_id: 'secret', quote_id: 5 });
    expect(problem).toBe('the payload does not fit bridge.track: /order_id, /quote_id');
    expect(payloadProblem('kyc.verify', null)).toBe('the payload does not fit kyc.verify: /');
  });

  it('lets no worker start that lacks a handler, or has one of an unknown kind', () => {
    const always = INTENT_KINDS.filter((kind) => effectOf(kind)?.needs === undefined);
    expect(() => requireHandlers(handlersOf(always), NOTHING_MORE)).not.toThrow();
    expect(() => requireHandlers(handlersOf(INTENT_KINDS), EVERYTHING)).not.toThrow();
    expect(() => requireHandlers(handlersOf(always), { ...NOTHING_MORE, bank: true })).toThrow(
      'effects without a handler: bank.submit-client, bank.open-account, bank.collect, bank.pay-vendor',
    );
    expect(() => requireHandlers(handlersOf(always.slice(1)), NOTHING_MORE)).toThrow(always[0]);
    const more = handlersOf([...always, 'escrow.burn']);
    expect(() => requireHandlers(more, NOTHING_MORE)).toThrow('not registered: escrow.burn');
  });

  it('is known to the types: neither an unregistered kind nor a payload of another kind can be written', () => {
    const about = { dedupeKey: 'a', partnerId: null };
    const drafts: IntentDraft[] = [
      { ...about, kind: 'escrow.release', payload: { order_id: ORDER } },
      // @ts-expect-error: not registered
      { ...about, kind: 'escrow.burn', payload: { order_id: ORDER } },
      // @ts-expect-error: the payload of another kind
      { ...about, kind: 'kyc.verify', payload: { order_id: ORDER } },
    ];
    expect(drafts).toHaveLength(3);
  });
});

describe('an effect that is written', () => {
  const AT = new Date('2026-11-15T10:00:00Z');

  function announcedBy(runAt?: Date): string[] {
    const channels: string[] = [];
    const defer = (({ announces }, params) => {
      for (const { channel } of announces?.(params, []) ?? []) channels.push(channel);
    }) as Transaction['defer'];
    const unit = { tx: { defer } as Transaction, ids: { uuid: () => ORDER } as IdGenerator, at: AT };
    const about = { dedupeKey: 'a', partnerId: null, ...(runAt === undefined ? {} : { runAt }) };
    prepareIntent(unit, { kind: 'vendor.offer-order', payload: { order_id: ORDER }, ...about });
    return channels;
  }

  it('wakes the workers where it is due, and not where only time makes it so', () => {
    expect(announcedBy()).toEqual(['intents_written']);
    expect(announcedBy(AT)).toEqual(['intents_written']);
    expect(announcedBy(new Date(AT.getTime() + 1))).toEqual([]);
  });
});

describe('the registry of events', () => {
  it('has a sentence and a schema for each', () => {
    for (const { when, data } of [...Object.values(PARTNER_EVENTS), ...Object.values(VENDOR_EVENTS)]) {
      expect(when).toMatch(/^[A-Z].+[^.]$/);
      expect(Object.keys(data.properties).length).toBeGreaterThan(0);
    }
  });

  it('is known to the types: neither an unregistered type nor the data of another type can be emitted', () => {
    const about = { partnerId: ORDER, subjectId: ORDER };
    const drafts: EventDraft[] = [
      { ...about, eventType: 'order.status.changed', data: orderChanged({}) },
      // @ts-expect-error: not registered
      { ...about, eventType: 'order.vanished', data: orderChanged({}) },
      // @ts-expect-error: the data of another type
      { ...about, eventType: 'user.kyc.updated', data: orderChanged({}) },
    ];
    expect(drafts).toHaveLength(3);
  });
});
