/** Check digits as the schemes publish them. Every function takes characters already reduced to its alphabet. */

const ZERO = '0'.charCodeAt(0);

const digitsOf = (text: string): number[] => Array.from(text, (character) => character.charCodeAt(0) - ZERO);

/** The sum of each digit times its weight; weights repeat from the left where there are fewer of them. */
function weightedSum(text: string, weights: readonly number[]): number {
  return digitsOf(text).reduce(
    (sum, digit, place) => sum + digit * (weights[place % weights.length] ?? 0),
    0,
  );
}

/** The whole number modulo 97, taken piecewise so that no length loses precision. */
export function modulo97(digits: string): number {
  return digitsOf(digits).reduce((rest, digit) => (rest * 10 + digit) % 97, 0);
}

/** ISO/IEC 7812: payment cards. */
export function passesLuhn(digits: string): boolean {
  const sum = digitsOf(digits)
    .reverse()
    .reduce((total, digit, place) => {
      const doubled = place % 2 === 1 ? digit * 2 : digit;
      return total + (doubled > 9 ? doubled - 9 : doubled);
    }, 0);
  return digits.length > 1 && sum % 10 === 0;
}

/** United States: ABA routing transit number. */
export function isAbaRouting(digits: string): boolean {
  // All zeros satisfies the sum but is no bank's number.
  return /^\d{9}$/.test(digits) && digits !== '000000000' && weightedSum(digits, [3, 7, 1]) % 10 === 0;
}

/** Mexico: the last of 18 digits; each product counts by its last digit. */
export function isClabe(digits: string): boolean {
  if (!/^\d{18}$/.test(digits)) return false;
  const sum = digitsOf(digits.slice(0, 17)).reduce(
    (total, digit, place) => total + ((digit * ([3, 7, 1][place % 3] ?? 0)) % 10),
    0,
  );
  return (10 - (sum % 10)) % 10 === Number(digits[17]);
}

/** Argentina: CBU of a bank or CVU of a wallet; two blocks, each with its own check digit. */
export function isCbu(digits: string): boolean {
  if (!/^\d{22}$/.test(digits)) return false;
  const bankCheck = (10 - (weightedSum(digits.slice(0, 7), [7, 1, 3, 9]) % 10)) % 10;
  const accountCheck = (10 - (weightedSum(digits.slice(8, 21), [3, 9, 7, 1]) % 10)) % 10;
  return bankCheck === Number(digits[7]) && accountCheck === Number(digits[21]);
}

/** Argentina: CUIT or CUIL. A remainder that would need the digit 10 is never issued. */
export function isCuit(digits: string): boolean {
  if (!/^\d{11}$/.test(digits)) return false;
  const check = (11 - (weightedSum(digits.slice(0, 10), [5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11)) % 11;
  return check === Number(digits[10]);
}

const moduloElevenOrZero = (sum: number): number => (sum % 11 < 2 ? 0 : 11 - (sum % 11));

/** Brazil: a person's tax number. Eleven equal digits satisfy the sums but are never issued. */
export function isCpf(digits: string): boolean {
  if (!/^\d{11}$/.test(digits) || /^(\d)\1{10}$/.test(digits)) return false;
  const first = moduloElevenOrZero(weightedSum(digits.slice(0, 9), [10, 9, 8, 7, 6, 5, 4, 3, 2]));
  const second = moduloElevenOrZero(weightedSum(digits.slice(0, 10), [11, 10, 9, 8, 7, 6, 5, 4, 3, 2]));
  return digits.endsWith(`${first}${second}`);
}

/** Brazil: a company's tax number; letters are allowed in the first twelve places since 2026. */
export function isCnpj(text: string): boolean {
  if (!/^[0-9A-Z]{12}\d{2}$/.test(text) || /^(\d)\1{13}$/.test(text)) return false;
  const weights = [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2];
  const first = moduloElevenOrZero(weightedSum(text.slice(0, 12), weights.slice(1)));
  const second = moduloElevenOrZero(weightedSum(text.slice(0, 13), weights));
  return text.endsWith(`${first}${second}`);
}

/** Chile: RUT as `12345678-5`, where K stands for ten. */
export function isRut(text: string): boolean {
  const match = /^(\d{7,8})-([\dK])$/.exec(text);
  if (!match) return false;
  const [, body = '', check] = match;
  const sum = weightedSum([...body].reverse().join(''), [2, 3, 4, 5, 6, 7]);
  const expected = (11 - (sum % 11)) % 11;
  return check === (expected === 10 ? 'K' : String(expected));
}

/** Norway: the eleventh digit. Accounts whose fifth and sixth digits are zero carry none. */
export function isNorwegianAccount(digits: string): boolean {
  if (!/^\d{11}$/.test(digits)) return false;
  if (digits.slice(4, 6) === '00') return true;
  return weightedSum(digits, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1]) % 11 === 0;
}

/** Czechia: `prefix-number/bank`; prefix and number are checked apart. */
export function isCzechAccount(text: string): boolean {
  const match = /^(?:(\d{1,6})-)?(\d{2,10})\/\d{4}$/.exec(text);
  if (!match) return false;
  const [, prefix = '', number = ''] = match;
  const weights = [6, 3, 7, 9, 10, 5, 8, 4, 2, 1];
  const passes = (part: string) => weightedSum(part.padStart(10, '0'), weights) % 11 === 0;
  return Number(number) > 0 && passes(prefix) && passes(number);
}

/** Hungary: bank and branch in the first eight digits, the account in the rest. */
export function isHungarianAccount(digits: string): boolean {
  if (!/^\d{16}(\d{8})?$/.test(digits)) return false;
  const passes = (part: string) => weightedSum(part, [9, 7, 3, 1]) % 10 === 0;
  return passes(digits.slice(0, 8)) && passes(digits.slice(8));
}

/** Serbia: 18 digits by ISO 7064, modulo 97 with remainder 1. */
export function isSerbianAccount(digits: string): boolean {
  return /^\d{18}$/.test(digits) && modulo97(digits) === 1;
}

/** Morocco: the two digits of the key make the whole number divisible by 97. */
export function isMoroccanRib(digits: string): boolean {
  return /^\d{24}$/.test(digits) && modulo97(digits) === 0;
}

const NEW_ZEALAND_STANDARD_BANKS = new Set(
  '01 02 03 06 11 12 13 14 15 16 17 18 19 20 21 22 23 24 27 30 35 38'.split(' '),
);

/**
 * New Zealand, by the Inland Revenue's published method for the banks that share it; the few banks with methods of
 * their own are left to the form of the number.
 */
export function isNewZealandAccount(digits: string): boolean {
  const match = /^(\d{2})(\d{4})(\d{7})\d{2,3}$/.exec(digits);
  if (!match) return false;
  const [, bank = '', branch = '', base = ''] = match;
  if (!NEW_ZEALAND_STANDARD_BANKS.has(bank)) return true;
  const branchSum = Number(base) < 990_000 ? weightedSum(branch, [6, 3, 7, 9]) : 0;
  return (branchSum + weightedSum(base, [0, 10, 5, 8, 4, 2, 1])) % 11 === 0;
}

/** Thailand: the thirteenth digit of a person's or a company's number. */
export function isThaiNumber(digits: string): boolean {
  if (!/^\d{13}$/.test(digits)) return false;
  const sum = weightedSum(digits.slice(0, 12), [13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2]);
  return (11 - (sum % 11)) % 10 === Number(digits[12]);
}

/** Singapore: the last letter of an NRIC or FIN. */
export function isSingaporeNric(text: string): boolean {
  const match = /^([STFGM])(\d{7})([A-Z])$/.exec(text);
  if (!match) return false;
  const [, series = '', digits = '', check] = match;
  const offset = { S: 0, T: 4, F: 0, G: 4, M: 3 }[series] ?? 0;
  const rest = (weightedSum(digits, [2, 7, 6, 5, 4, 3, 2]) + offset) % 11;
  if (series === 'M') return 'KLJNPQRTUWX'[10 - rest] === check;
  return (series === 'S' || series === 'T' ? 'JZIHGFEDCBA' : 'XWUTRQPNMLK')[rest] === check;
}
