import { invalidRequest } from '../../http/errors.ts';

/** The commonest of twelve characters and more; shorter ones are refused by their length. */
const COMMON = new Set([
  ...['123456789012', '1234567890123', '12345678901234', '123456789123', '123123123123', '111111111111'],
  ...['000000000000', '987654321098', 'qwertyuiop12', 'qwertyuiop123', 'qwertyuiop[]', '1qaz2wsx3edc'],
  ...['1q2w3e4r5t6y', 'q1w2e3r4t5y6', 'qwerty123456', '123456qwerty', 'abcdefghijkl', 'abcd12345678'],
  ...['password1234', 'password12345', 'passwordpassword', 'mypassword123', 'password123!', 'p@ssw0rd1234'],
  ...['iloveyou1234', 'iloveyouforever', 'letmeinplease', 'letmein12345', 'changemeplease', 'changeme1234'],
  ...[
    'administrator',
    'adminadminadmin',
    'administrator1',
    'welcome12345',
    'welcome123456',
    'causewaycauseway',
  ],
  ...['correcthorsebatterystaple', 'asdfghjkl123', 'asdfasdfasdf', 'zxcvbnm12345', 'trustno1trustno1'],
]);
const ONE_CHARACTER = /^(.)\1*$/u;

/** Length counts, not kinds of characters (NIST SP 800-63B); its bounds are in the schema. */
export function requireGoodPassword(field: string, password: string, email: string): void {
  const plain = password.normalize('NFKC').toLowerCase();
  const [mailbox = ''] = email.split('@');
  if (plain === email || plain === `${mailbox}${mailbox}`)
    throw invalidRequest(field, 'must not be your e-mail address');
  if (COMMON.has(plain) || ONE_CHARACTER.test(plain)) {
    throw invalidRequest(field, 'is one of the commonest passwords; choose another');
  }
}
