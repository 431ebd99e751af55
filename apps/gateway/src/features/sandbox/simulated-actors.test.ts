import { paymentFieldFault } from '@causeway/protocol/payment-fields';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../../../../../test/harness/gateway.ts';
import { simulatedDetails } from './simulated-actors.ts';

describe('the payment details of simulated vendors', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway();
  });
  afterAll(() => gateway?.stop());

  it('fit every on-ramp rail and institution that they can be asked for', () => {
    const { currencies, detailsCheck } = gateway.deps;
    const { rails, institutions } = currencies.current().reference.catalogue.data;
    const onramp = rails.filter(({ directions }) => directions.includes('onramp'));
    expect(onramp.length).toBeGreaterThan(50);
    const misfits: unknown[] = [];
    for (const rail of onramp) {
      const serving = institutions
        .filter((one) => one.supportedRails.includes(rail.slug))
        .map(({ slug }) => slug);
      for (const institutionId of [
        ...serving,
        ...(rail.defaultInstitution ? [rail.defaultInstitution] : []),
      ]) {
        const order = {
          payment_network_slug: rail.slug,
          payment_method_slug: institutionId,
          order_id: '0193a1b2-0000-7000-8000-000000000001',
        };
        const details = simulatedDetails(gateway.deps, order, 'Harbour Liquidity');
        const fit = detailsCheck.fit({ rail: rail.slug, institutionId }, details);
        if (!fit.ok) misfits.push([rail.slug, institutionId, fit.problems]);
      }
    }
    expect(misfits).toEqual([]);
  });

  it('are not held back by what forms check before they are sent', () => {
    const { rails } = gateway.deps.currencies.current().reference.catalogue.data;
    const heldBack = rails.flatMap(({ slug, fields = [], formats = [] }) =>
      [...fields, ...formats.flatMap((format) => format.fields)].flatMap((field) => {
        const { key, type, required, pattern, placeholder, maxLength: max_length } = field;
        if (placeholder === undefined) return [];
        const asked = { key, type, required, max_length, ...(pattern === undefined ? {} : { pattern }) };
        const fault = paymentFieldFault(asked, placeholder);
        return fault === undefined ? [] : [[slug, key, placeholder, fault]];
      }),
    );
    expect(heldBack).toEqual([]);
  });
});
