import { fileOf, SUBMISSION } from '../../apps/gateway/src/features/kyc/testing/kyc-samples.ts';

/** Persons whose every value occurs nowhere else: where one is found, there is a leak. */

export const PERSON = {
  email: 'zebulon.quartermain@leak-check.example',
  first_name: 'Zebulon',
  last_name: 'Quartermain',
  phone_number: '+442079460123',
};
export const KYC = {
  ...SUBMISSION,
  first_name: PERSON.first_name,
  last_name: PERSON.last_name,
  date_of_birth: '1971-03-17',
  id_number: 'QX90817263',
  address: '17 Wolkenkuckucksheim Lane',
  city: 'Quetzaltenango',
  postal_code: 'ZQ9 8XW',
};
export const PICTURE = 'a picture of Zebulon';
const OWN_IBAN = 'DE02120300000000202051';
export const OWN_ACCOUNT = sepa(`${PERSON.first_name} ${PERSON.last_name}`, OWN_IBAN);
/** Whom a vendor asks for the money where it asks. */
export const PAYER = { full_name: 'Z. Quartermain-Ffoulkes', email: 'ffoulkes@leak-check.example' };

/** Who pays into the account that the bank opens for the person, and with what words. */
export const SENDER = { sender_name: 'Mortimer Wigglesworth', reference: 'for Zebulon’s moustache' };

/** A customer who is not erased, and whose verification fails. */
export const BYSTANDER = {
  ...KYC,
  first_name: 'Ottoline',
  last_name: 'Umberleigh',
  id_number: 'UM55443322',
  address: '3 Hintertupfing Mews',
  city: 'Llanfairfechan',
  postal_code: 'LL33 0XX',
  date_of_birth: '1969-08-02',
};

export const RECIPIENT = {
  recipient_name: 'Xanthippe Vandersloot',
  recipient_native_name: '欧阳娜娜',
  recipient_country: 'NL',
  recipient_id_type: 'PASSPORT',
  recipient_id_number: 'NLX5566778',
  recipient_business_registration_number: 'KVK87654321',
};
const THEIR_IBAN = 'NL91ABNA0417164300';
export const THEIR_ACCOUNT = sepa(RECIPIENT.recipient_name, THEIR_IBAN);

/** What a vendor writes for one payment. */
export const VENDOR_ACCOUNT = { full_name: 'Barnabas Oglethorpe', iban: 'DE75512108001245126199' };

export const PERSONS_VALUES: readonly string[] = [
  ...Object.values(PERSON),
  ...Object.values(PAYER),
  ...Object.values(SENDER),
  ...Object.values(VENDOR_ACCOUNT),
  KYC.date_of_birth,
  KYC.id_number,
  'Wolkenkuckucksheim',
  KYC.city,
  KYC.postal_code,
  OWN_IBAN,
  PICTURE,
];
export const BYSTANDERS_VALUES: readonly string[] = [
  BYSTANDER.first_name,
  BYSTANDER.last_name,
  BYSTANDER.id_number,
  'Hintertupfing',
  BYSTANDER.city,
];
export const RECIPIENTS_VALUES: readonly string[] = [
  'Xanthippe',
  'Vandersloot',
  RECIPIENT.recipient_native_name,
  RECIPIENT.recipient_id_number,
  RECIPIENT.recipient_business_registration_number,
  THEIR_IBAN,
];

/** A bank's slip: it names who paid and who was paid. */
export function slipOf(name: string) {
  return {
    payment_reference: `transfer to ${name}`,
    content_type: 'image/png',
    content: fileOf('image/png', `paid to ${name} `).toString('base64'),
  };
}

function sepa(fullName: string, iban: string) {
  return {
    rail: 'iban-sepa',
    currency: 'EUR',
    country_code: iban.slice(0, 2),
    details: { full_name: fullName, iban },
  };
}
