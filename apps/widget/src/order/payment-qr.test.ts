import { encode } from 'uqr';
import { describe, expect, it } from 'vitest';
import { crc16, epcPayload, paymentCode, pixCode, upiLink } from './payment-qr.ts';

describe('EPC069-12', () => {
  const redCross = {
    amount: '1',
    currency: 'EUR',
    details: {
      bic: 'BPOTBEB1',
      full_name: 'Red Cross of Belgium',
      iban: 'BE72 0000 0000 1616',
      reference: 'Urgency fund',
    },
  };

  it('is the published example, line by line', () => {
    expect(epcPayload(redCross)?.split('\n')).toEqual([
      ...['BCD', '002', '1', 'SCT', 'BPOTBEB1', 'Red Cross of Belgium', 'BE72000000001616', 'EUR1'],
      ...['', '', 'Urgency fund'],
    ]);
  });

  it('leaves out what is not known, and what is nothing at its end', () => {
    const { iban, full_name } = redCross.details;
    expect(epcPayload({ ...redCross, amount: '100.00', details: { iban, full_name } })).toBe(
      'BCD\n002\n1\nSCT\n\nRed Cross of Belgium\nBE72000000001616\nEUR100.00',
    );
  });

  it('puts a creditor reference where banks check it, and anything else among the words', () => {
    const lines = (reference: string) =>
      epcPayload({ ...redCross, details: { ...redCross.details, reference } })
        ?.split('\n')
        .slice(9);
    expect(lines('RF18 5390 0754 7034')).toEqual(['RF18539007547034']);
    expect(lines('RF19539007547034')).toEqual(['', 'RF19539007547034']);
  });

  it('is not made for another currency, a wrong IBAN, no name or no amount', () => {
    const { details } = redCross;
    expect(epcPayload({ ...redCross, currency: 'CHF' })).toBeNull();
    expect(epcPayload({ ...redCross, details: { ...details, iban: 'BE72000000001617' } })).toBeNull();
    expect(epcPayload({ ...redCross, details: { ...details, full_name: ' ' } })).toBeNull();
    for (const amount of ['0.00', '1.005', '-1', '1e3', '']) {
      expect(epcPayload({ ...redCross, amount })).toBeNull();
    }
  });

  it('fits into the code that the guideline allows: version 13 with correction M', () => {
    const long = { ...redCross.details, full_name: 'N'.repeat(90), reference: 'R'.repeat(160) };
    const payload = epcPayload({ ...redCross, amount: '999999999.99', details: long }) ?? '';
    expect(payload).toContain(`\n${'N'.repeat(70)}\n`);
    expect(encode(payload, { ecc: 'M' }).version).toBeLessThanOrEqual(13);
  });
});

describe('UPI', () => {
  it('is a link with the payee, the words and the amount', () => {
    const details = { upi_id: 'nadeem@npci', full_name: 'nadeem chinna', reference: 'Pay to & fro' };
    expect(upiLink({ amount: '10.00', currency: 'INR', details })).toBe(
      'upi://pay?pa=nadeem@npci&pn=nadeem%20chinna&tn=Pay%20to%20%26%20fro&am=10.00&cu=INR',
    );
  });

  it('is not made for what could add a parameter of its own', () => {
    const of = (upi_id: string) => upiLink({ amount: '10', currency: 'INR', details: { upi_id } });
    expect([of('a@b&am=1'), of('nobody'), of(''), of('a b@npci')]).toEqual([null, null, null, null]);
    expect(upiLink({ amount: '10', currency: 'EUR', details: { upi_id: 'nadeem@npci' } })).toBeNull();
  });
});

describe('Pix', () => {
  /** From the Banco Central’s manual of the BR Code. */
  const MANUAL =
    '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D';

  it('has the checksum of the manual, and the one that the algorithm is known by', () => {
    expect(crc16(MANUAL.slice(0, -4))).toBe('1D3D');
    expect(crc16('123456789')).toBe('29B1');
  });

  it('is the example of the manual with an amount in it', () => {
    const details = {
      pix_key: '123e4567-e12b-12d1-a456-426655440000',
      full_name: 'Fulano de Tal',
      city: 'BRASILIA',
    };
    const code = pixCode({ amount: '10.00', currency: 'BRL', details }) ?? '';
    expect(code.replace('540510.00', '').slice(0, -4)).toBe(MANUAL.slice(0, -4));
    expect(code.slice(-4)).toBe(crc16(code.slice(0, -4)));
  });

  it('writes names without accents and takes only references that the scheme takes', () => {
    const of = (reference: string) =>
      pixCode({
        amount: '1.00',
        currency: 'BRL',
        details: { pix_key: 'ana@example.com', full_name: 'Ana Conceição de Araújo Guimarães', reference },
      });
    expect(of('CW4815')).toContain('5925Ana Conceicao de Araujo G6006BRASIL62100506CW4815');
    expect(of('CW 4815')).toContain('62070503***');
  });

  it('is not made without a key or for another currency', () => {
    const details = { pix_key: '12345678909', full_name: 'Ana' };
    expect(pixCode({ amount: '1.00', currency: 'EUR', details })).toBeNull();
    expect(pixCode({ amount: '1.00', currency: 'BRL', details: { full_name: 'Ana' } })).toBeNull();
  });
});

it('a rail without a code has none', () => {
  expect(paymentCode({ amount: '1.00', currency: 'GHS', details: { phone_number: '+233241234567' } })).toBe(
    null,
  );
});
