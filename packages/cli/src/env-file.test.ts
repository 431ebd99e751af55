import { parseEnv } from 'node:util';
import { expect, it } from 'vitest';
import { readVariables } from './env-file.ts';

const FILE = [
  '# a remark',
  'PLAIN=whsec_abc-_=',
  '  SPACED = a value  ',
  'EMPTY=',
  'AFTER_EMPTY=x # a remark',
  "SINGLE='a # b \\n c'",
  'DOUBLE="two\\nlines" # a remark',
  'BACK=`it\'s "quoted"`',
  'export EXPORTED=yes',
  'SEVERAL="one',
  'NOT_A_NAME=two"',
  'no variable',
  'TWICE=first',
  'TWICE=last',
  'LAST=end',
];

it.each(['\n', '\r\n'])('a file of variables is read as Node reads it (lines end with %j)', (end) => {
  const text = FILE.join(end);
  const read = readVariables(text);
  expect(read).toMatchObject({
    PLAIN: 'whsec_abc-_=',
    SPACED: 'a value',
    EMPTY: '',
    AFTER_EMPTY: 'x',
    DOUBLE: 'two\nlines',
    EXPORTED: 'yes',
    TWICE: 'last',
    LAST: 'end',
  });
  // Node makes one line end of both.
  const asNode = Object.entries(read).map(([name, value]) => [name, value.replaceAll('\r\n', '\n')]);
  expect(Object.fromEntries(asNode)).toEqual({ ...parseEnv(text) });
});
