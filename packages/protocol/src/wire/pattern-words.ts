const TIME = 'must be a time such as 2026-11-01T00:00:00Z';
const NO_CONTROLS = 'must not be empty or contain control characters';
const CURSOR = 'must be a cursor that the service gave out';
const DATE = 'must be a date such as 2026-11-01';

/** What a text that does not match is told: a regular expression says nothing to most who read an error. */
export const PATTERN_WORDS: Readonly<Record<string, string>> = {
  '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$': 'must be a uuid',
  '^(?:19[7-9][0-9]|2[0-9]{3})-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-5][0-9](?:\\.[0-9]{1,9})?(?:Z|[+-][0-9]{2}:[0-9]{2})$':
    TIME,
  '^(?:19[7-9][0-9]|2[0-9]{3})-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])$': DATE,
  '^[0-9]{4}-[0-9]{2}-[0-9]{2}$': DATE,
  '^0x[0-9a-fA-F]{40}$': 'must be an address: 0x and 40 hexadecimal digits',
  '^0x[0-9a-fA-F]{64}$': 'must be a hash: 0x and 64 hexadecimal digits',
  '^0x([0-9a-fA-F]{2})*$': 'must be bytes: 0x and an even number of hexadecimal digits',
  '^[A-Za-z]{2}$': 'must be the two letters of a country, such as DE',
  '^[A-Za-z]{3}$': 'must be the three letters of a currency, such as EUR',
  '^[A-Za-z0-9]{3,10}$': 'must be the code of a currency, such as EUR or USDC',
  '^[0-9]{1,18}$': CURSOR,
  '^[0-9]{1,17}_[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$': CURSOR,
  '^[0-9]{1,78}$': 'must be a whole number in digits',
  '^[1-9][0-9]{0,17}$': 'must be a whole number from 1',
  '^evt_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$': 'must be evt_ and a uuid',
  '^[^\\u0000-\\u001f\\u007f]+$': NO_CONTROLS,
  '^[^\\u0000-\\u0008\\u000b-\\u001f\\u007f]+$': NO_CONTROLS,
  '^[^\\u0000-\\u001f\\u007f\\ud800-\\udfff]*$': 'must not contain control characters',
  '^(?! )[^\\u0000-\\u001f\\u007f\\ud800-\\udfff]*(?<! )$':
    'must not contain control characters, or a space at either end',
  '^[1-5](?:xx|[0-9]{2})$': 'must be a status such as 404, or a class of them such as 4xx',
  '^[A-Z][A-Z_]{2,59}$': 'must be an error code such as VALIDATION_ERROR',
  '^[A-Z0-9_]{1,64}$': 'must be 1 to 64 capital letters, digits or underscores',
  '^(?:GET|HEAD|POST|PUT|PATCH|DELETE)$': 'must be one of GET, HEAD, POST, PUT, PATCH, DELETE',
  '^[A-Za-z0-9._:-]{1,128}$': 'must be 1 to 128 letters, digits or . _ : -',
  '^[A-Za-z0-9_./-]{1,200}$': 'must be 1 to 200 letters, digits or _ . / -',
  '^[A-Za-z0-9_-]{1,100}$': 'must be 1 to 100 letters, digits, underscores or hyphens',
  '^[A-Za-z0-9_ -]{1,60}$': 'must be 1 to 60 letters, digits, spaces, underscores or hyphens',
  '^[A-Za-z0-9_-]+$': 'must be letters, digits, underscores or hyphens',
  '^[A-Za-z_]{1,80}$': 'must be 1 to 80 letters or underscores',
  '^[a-z_.-]{1,80}$': 'must be 1 to 80 small letters or _ . -',
  '^[a-z.-]{1,60}$': 'must be 1 to 60 small letters, dots or hyphens',
};

/** The same for a `format`: the parts of a time are right one by one, and there is no such day or hour. */
export const FORMAT_WORDS: Readonly<Record<string, string>> = { 'date-time': TIME };
