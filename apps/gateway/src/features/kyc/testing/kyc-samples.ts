/** A submission that is complete; tests change what they are about. */
export const SUBMISSION = {
  method: 'direct_data',
  first_name: 'Grace',
  last_name: 'Hopper',
  date_of_birth: '1986-12-09',
  gender: 'F',
  nationality: 'US',
  id_type: 'PASSPORT',
  id_number: 'X7654321',
  id_issue_country: 'US',
  address: '12 Navy Yard',
  city: 'Arlington',
  postal_code: '22201',
  country_code: 'US',
  phone_number: '+12025550143',
  source_of_funds: 'SALARY',
} as const;

const SIGNATURES = {
  'image/jpeg': [0xff, 0xd8, 0xff, 0xe0],
  'image/png': [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
  'image/webp': [...Buffer.from('RIFF\0\0\0\0WEBP', 'latin1')],
  'application/pdf': [...Buffer.from('%PDF-1.7\n', 'latin1')],
} as const;

/** A file that begins as its type does. */
export function fileOf(contentType: keyof typeof SIGNATURES, filling = 'not a real picture '): Buffer {
  return Buffer.concat([Buffer.from(SIGNATURES[contentType]), Buffer.from(filling.repeat(20))]);
}

export function documentOf(documentType: string, contentType: keyof typeof SIGNATURES = 'image/jpeg') {
  return {
    document_type: documentType,
    content_type: contentType,
    content: fileOf(contentType).toString('base64'),
  };
}
