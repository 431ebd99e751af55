/** How accounts are numbered where the simulated bank opens them: what stands before the account, and how long that is. */
interface Numbering {
  readonly bank: string;
  readonly accountDigits: number;
  readonly bic: string;
}

/** The bank has a code of its own everywhere; none of them is a real bank's. */
export const NUMBERING: Readonly<Record<string, Numbering>> = {
  DE: { bank: '99940000', accountDigits: 10, bic: 'CSWYDEFFXXX' },
  NL: { bank: 'CSWY', accountDigits: 10, bic: 'CSWYNL2AXXX' },
  IE: { bank: 'CSWY999400', accountDigits: 8, bic: 'CSWYIE2DXXX' },
  LT: { bank: '99940', accountDigits: 11, bic: 'CSWYLT2XXXX' },
  GB: { bank: 'CSWY999400', accountDigits: 8, bic: 'CSWYGB2LXXX' },
};

/** An IBAN with the check digits of ISO 13616: the same number always gives the same one. */
export function ibanOf(country: string, number: bigint): string {
  const numbering = NUMBERING[country];
  if (numbering === undefined) throw new RangeError(`the simulated bank opens nothing in ${country}`);
  const { bank, accountDigits } = numbering;
  const account = (number % 10n ** BigInt(accountDigits)).toString().padStart(accountDigits, '0');
  const bban = bank + (country === 'NL' ? elevenProof(account) : account);
  const rest = Number(BigInt(digitsOf(`${bban}${country}00`)) % 97n);
  return `${country}${String(98 - rest).padStart(2, '0')}${bban}`;
}

/** Letters count from 10 on. */
function digitsOf(text: string): string {
  return [...text].map((character) => Number.parseInt(character, 36).toString()).join('');
}

/** The Netherlands: the weighted sum of the ten digits is a multiple of eleven. The next number up that fulfils it. */
function elevenProof(account: string): string {
  for (let number = BigInt(account); ; number++) {
    const digits = (number % 10n ** 10n).toString().padStart(10, '0');
    const sum = [...digits].reduce((total, digit, place) => total + Number(digit) * (10 - place), 0);
    if (sum % 11 === 0) return digits;
  }
}
