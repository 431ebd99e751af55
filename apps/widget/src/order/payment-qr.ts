/**
 * Payments as codes that banking apps read: EPC069-12 for SEPA, a link for UPI, the BR Code for Pix. A code is made only where
 * the details allow one that is right; the fields beside it are always shown.
 */
export interface PaymentToScan {
  readonly amount: string;
  readonly currency: string;
  /** As the rail names them: iban, full_name, upi_id, pix_key … */
  readonly details: Readonly<Record<string, string>>;
}

export interface PaymentCode {
  readonly kind: 'epc' | 'upi' | 'pix';
  readonly payload: string;
}

export function paymentCode(payment: PaymentToScan): PaymentCode | null {
  const makers = { epc: epcPayload, upi: upiLink, pix: pixCode } as const;
  for (const kind of ['epc', 'upi', 'pix'] as const) {
    const payload = makers[kind](payment);
    if (payload !== null) return { kind, payload };
  }
  return null;
}

const nameIn = ({ full_name, company_name, account_name }: Readonly<Record<string, string>>) =>
  (full_name ?? company_name ?? account_name ?? '').trim();

const plainAmount = (amount: string) => /^\d{1,9}(?:\.\d{1,2})?$/.test(amount) && /[1-9]/.test(amount);

/** Version 002: the BIC may be left out inside the European Economic Area, and banks find it from the IBAN elsewhere too. */
export function epcPayload({ amount, currency, details }: PaymentToScan): string | null {
  const iban = (details.iban ?? '').replaceAll(' ', '').toUpperCase();
  const name = nameIn(details);
  if (currency !== 'EUR' || name === '' || !plainAmount(amount) || !isIban(iban)) return null;
  const bic = (details.bic ?? '').toUpperCase();
  const reference = (details.reference ?? '').trim();
  const isCreditorReference = isRfReference(reference);
  const lines = [
    ...['BCD', '002', '1', 'SCT'],
    /^[A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?$/.test(bic) ? bic : '',
    name.slice(0, 70),
    iban,
    `EUR${amount}`,
    '',
    isCreditorReference ? reference.replaceAll(' ', '').toUpperCase() : '',
    isCreditorReference ? '' : reference.slice(0, 140),
  ];
  const payload = lines.join('\n').trimEnd();
  return new TextEncoder().encode(payload).length <= 331 ? payload : null;
}

/** ISO 7064, as IBANs and creditor references check themselves. */
function mod97(text: string): number {
  let rest = 0;
  for (const letter of text.slice(4) + text.slice(0, 4)) {
    rest = Number(`${rest}${Number.parseInt(letter, 36)}`) % 97;
  }
  return rest;
}

function isIban(text: string): boolean {
  return /^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(text) && mod97(text) === 1;
}

/** ISO 11649. */
function isRfReference(text: string): boolean {
  const plain = text.replaceAll(' ', '').toUpperCase();
  return /^RF\d{2}[A-Z0-9]{1,21}$/.test(plain) && mod97(plain) === 1;
}

/** A link that UPI apps open, on a telephone by itself and as a code from another screen. */
export function upiLink({ amount, currency, details }: PaymentToScan): string | null {
  const payee = details.upi_id ?? '';
  const isPayee = /^[A-Za-z0-9.\-_]{2,256}@[A-Za-z][A-Za-z0-9]{1,63}$/.test(payee);
  if (currency !== 'INR' || !isPayee || !plainAmount(amount)) return null;
  const name = nameIn(details);
  const reference = (details.reference ?? '').trim();
  const values = [
    `pa=${payee}`,
    ...(name === '' ? [] : [`pn=${encodeURIComponent(name)}`]),
    ...(reference === '' ? [] : [`tn=${encodeURIComponent(reference.slice(0, 80))}`]),
    `am=${amount}`,
    'cu=INR',
  ];
  return `upi://pay?${values.join('&')}`;
}

/** The static BR Code of the Banco Central: EMV fields with the length of each, and a checksum over all of them. */
export function pixCode({ amount, currency, details }: PaymentToScan): string | null {
  const key = (details.pix_key ?? '').trim();
  const name = emvText(nameIn(details), 25);
  if (currency !== 'BRL' || !/^[\w@.+-]{5,77}$/.test(key) || name === '' || !plainAmount(amount)) return null;
  const reference = details.reference ?? '';
  const fields = [
    emv('00', '01'),
    emv('26', emv('00', 'br.gov.bcb.pix') + emv('01', key)),
    emv('52', '0000'),
    emv('53', '986'),
    emv('54', amount),
    emv('58', 'BR'),
    emv('59', name),
    // The town is mandatory and no bank reads it: payees of an order do not say theirs.
    emv('60', emvText(details.city ?? '', 15) || 'BRASIL'),
    emv('62', emv('05', /^[A-Za-z0-9]{1,25}$/.test(reference) ? reference : '***')),
    '6304',
  ].join('');
  return fields + crc16(fields);
}

function emv(id: string, value: string): string {
  return `${id}${`${value.length}`.padStart(2, '0')}${value}`;
}

/** Letters without their accents: a length counts bytes, and old readers know nothing else. */
function emvText(text: string, most: number): string {
  return text
    .normalize('NFD')
    .replace(/[^ -~]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, most);
}

/** CRC-16/CCITT-FALSE, four hexadecimal digits. */
export function crc16(text: string): string {
  let crc = 0xffff;
  for (const letter of text) {
    crc ^= letter.charCodeAt(0) << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021;
    crc &= 0xffff;
  }
  return crc.toString(16).toUpperCase().padStart(4, '0');
}
