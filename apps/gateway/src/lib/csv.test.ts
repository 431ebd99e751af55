import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { csvHeader, csvLines, numberColumn, textColumn, withoutFormula } from './csv.ts';

const text = textColumn<string | null>('text', (value) => value);
const number = numberColumn<string | null>('number', (value) => value);
const cellOf = (value: string) => csvLines([text], [value]).slice(0, -2);

/** As a spreadsheet splits it where it takes another separator than the comma and does not heed quotes inside a cell. */
const splitBy = (line: string, separator: string) => line.split(separator);

describe('comma-separated values', () => {
  it('are lines of RFC 4180: names first, CRLF, quotes doubled', () => {
    expect(csvHeader([text, number] as never)).toBe('text,number\r\n');
    expect(csvLines([text, number], ['7', null])).toBe('7,7\r\n,\r\n');
    expect(cellOf('a,b')).toBe('"a,b"');
    expect(cellOf('say "x"')).toBe('"say ""x"""');
    expect(cellOf('two\r\nlines')).toBe('"two\r\nlines"');
    expect(cellOf('München, 東京')).toBe('"München, 東京"');
  });

  it.each([
    ['=1+1', "'=1+1"],
    ['+49 30 1', "'+49 30 1"],
    ['-5', "'-5"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', "'\t'=1"],
    ['\rx', `"'\rx"`],
    ['  =1', "'  =1"],
    ['＝1', "'＝1"],
    ['=HYPERLINK("http://x","y")', `"'=HYPERLINK(""http://x"",""y"")"`],
    ['a;=1', "a;'=1"],
    ['a; =cmd', "a; '=cmd"],
    ['a\n-1', `"a\n'-1"`],
    ['order-1', 'order-1'],
    ['a=b', 'a=b'],
    ["O'Neil", "O'Neil"],
  ])('%j is written %j', (given, written) => {
    expect(cellOf(given)).toBe(written);
  });

  it('numbers stay numbers, negative ones too; anything else in a column of numbers is a mistake of ours', () => {
    expect(csvLines([number], ['-12.50', '0', null])).toBe('-12.50\r\n0\r\n\r\n');
    for (const wrong of ['=1', '1e3', '', '1,5', '-', '+1', 'NaN', '1 ']) {
      expect(() => csvLines([number], [wrong])).toThrow(TypeError);
    }
  });

  it('no text begins like a formula, however it is split', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'=+-@\t\r\n;|,"\' ab＝') }), (given) => {
        const safe = withoutFormula(given);
        for (const separator of ['\u0000', ';', '|', '\t', '\n', '\r']) {
          for (const part of splitBy(safe, separator)) expect(part).not.toMatch(/^\s*[=+\-@＝＋－＠]/);
        }
        expect(safe).not.toMatch(/^[\t\r\n]/);
        expect(safe.replaceAll("'", '')).toBe(given.replaceAll("'", ''));
      }),
    );
  });
});
