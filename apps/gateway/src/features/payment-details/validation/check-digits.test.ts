import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isAbaRouting,
  isCbu,
  isClabe,
  isCnpj,
  isCpf,
  isCuit,
  isCzechAccount,
  isHungarianAccount,
  isMoroccanRib,
  isNewZealandAccount,
  isNorwegianAccount,
  isRut,
  isSerbianAccount,
  isSingaporeNric,
  isThaiNumber,
  modulo97,
  passesLuhn,
} from './check-digits.ts';

/** Samples that the schemes, banks and tax offices publish, and the places of the digits that are checked. */
const SCHEMES: readonly {
  name: string;
  isRight: (text: string) => boolean;
  right: readonly string[];
  wrong: readonly string[];
}[] = [
  {
    name: 'ABA routing',
    isRight: isAbaRouting,
    right: ['021000021', '011401533', '091000019'],
    wrong: ['021000020', '000000000', '12345678'],
  },
  {
    name: 'CLABE',
    isRight: isClabe,
    right: ['032180000118359719', '002010077777777771'],
    wrong: ['032180000118359710', '03218000011835971'],
  },
  {
    name: 'CBU',
    isRight: isCbu,
    right: ['2850590940090418135201'],
    wrong: ['2850590840090418135201', '2850590940090418135202'],
  },
  {
    name: 'CUIT',
    isRight: isCuit,
    right: ['20123456786', '30500010912'],
    wrong: ['20123456785', '2012345678'],
  },
  {
    name: 'CPF',
    isRight: isCpf,
    right: ['12345678909', '52998224725'],
    wrong: ['12345678900', '11111111111'],
  },
  {
    name: 'CNPJ',
    isRight: isCnpj,
    right: ['11222333000181', '12ABC34501DE35'],
    wrong: ['11222333000180', '00000000000000', '12ABC34501DE36'],
  },
  {
    name: 'RUT',
    isRight: isRut,
    right: ['12345678-5', '30686957-4', '6265837-1'],
    wrong: ['12345678-K', '12345678'],
  },
  {
    name: 'Norwegian account',
    isRight: isNorwegianAccount,
    right: ['86011117947', '12340012345'],
    wrong: ['86011117948'],
  },
  {
    name: 'Czech account',
    isRight: isCzechAccount,
    right: ['19-2000145399/0800', '2000145399/0800'],
    wrong: ['18-2000145399/0800', '2000145398/0800', '00/0800'],
  },
  {
    name: 'Hungarian account',
    isRight: isHungarianAccount,
    right: ['117730161111101800000000', '1177301611111018'],
    wrong: ['117730171111101800000000', '1177301611111019'],
  },
  {
    name: 'Serbian account',
    isRight: isSerbianAccount,
    right: ['260005601001611379'],
    wrong: ['260005601001611378'],
  },
  {
    name: 'Moroccan RIB',
    isRight: isMoroccanRib,
    right: ['011519000001205000534921'],
    wrong: ['011519000001205000534922'],
  },
  {
    name: 'New Zealand account',
    isRight: isNewZealandAccount,
    right: ['010902006838900', '1231400171323050'],
    wrong: ['010902006838800'],
  },
  { name: 'Thai number', isRight: isThaiNumber, right: ['1101700230708'], wrong: ['1101700230709'] },
  {
    name: 'Singapore NRIC',
    isRight: isSingaporeNric,
    right: ['S1234567D', 'G1234567X', 'M1234567K'],
    wrong: ['S1234567E', 'A1234567D'],
  },
  {
    name: 'payment card',
    isRight: passesLuhn,
    right: ['6212345678901232', '4111111111111111'],
    wrong: ['6212345678901233', '0'],
  },
];

describe.each(SCHEMES)('$name', ({ isRight, right, wrong }) => {
  it.each(right)('accepts %s', (text) => expect(isRight(text)).toBe(true));
  it.each(wrong)('refuses %s', (text) => expect(isRight(text)).toBe(false));
});

/** Schemes in which any single wrong digit is caught, with one digit that makes a random body right. */
const CATCHES_ANY_DIGIT: readonly [name: string, isRight: (text: string) => boolean, sample: string][] = [
  ['ABA routing', isAbaRouting, '021000021'],
  ['CLABE', isClabe, '032180000118359719'],
  ['CBU', isCbu, '2850590940090418135201'],
  ['payment card', passesLuhn, '6212345678901232'],
  ['Serbian account', isSerbianAccount, '260005601001611379'],
  ['Moroccan RIB', isMoroccanRib, '011519000001205000534921'],
  ['Norwegian account', isNorwegianAccount, '86011117947'],
  ['Hungarian account', isHungarianAccount, '117730161111101800000000'],
];

describe('a single mistyped digit', () => {
  it.each(CATCHES_ANY_DIGIT)('is always caught: %s', (_name, isRight, sample) => {
    for (let place = 0; place < sample.length; place += 1) {
      for (const digit of '0123456789') {
        const changed = sample.slice(0, place) + digit + sample.slice(place + 1);
        // Accounts with zeros in these two places carry no check digit in Norway.
        if (isRight === isNorwegianAccount && changed.slice(4, 6) === '00') continue;
        expect(isRight(changed), changed).toBe(changed === sample);
      }
    }
  });
});

describe('exactly one last digit is right for any body', () => {
  const bodies: readonly [string, number, (text: string) => boolean][] = [
    ['CLABE', 17, isClabe],
    ['payment card', 15, passesLuhn],
    ['Thai number', 12, isThaiNumber],
  ];
  it.each(bodies)('%s', (_name, length, isRight) => {
    fc.assert(
      fc.property(fc.stringMatching(new RegExp(`^[0-9]{${length}}$`)), (body) => {
        expect([...'0123456789'].filter((digit) => isRight(body + digit))).toHaveLength(1);
      }),
    );
  });
});

it('takes a number of any length modulo 97 without losing precision', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 60n }), (number) => {
      expect(modulo97(String(number))).toBe(Number(number % 97n));
    }),
  );
});

it('never throws, whatever text it is given', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
      for (const { isRight } of SCHEMES) expect(typeof isRight(text)).toBe('boolean');
    }),
  );
});
