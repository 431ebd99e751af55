import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listElements, XmlSyntaxError } from './feed-request.ts';
import { fixture } from './fixtures/feed-server.ts';

describe('listElements', () => {
  it('lists elements with their attributes and ancestors', () => {
    const text = `<?xml version="1.0"?><!-- <a> --><a x="1"><b:c y='2' z="3" /><d></d></a>`;
    expect(
      listElements(text).map(({ name, attributes, ancestors }) => [name, { ...attributes }, ancestors]),
    ).toEqual([
      ['a', { x: '1' }, []],
      ['b:c', { y: '2', z: '3' }, ['a']],
      ['d', {}, ['a']],
    ]);
  });

  it.each([
    ['a document type', '<!DOCTYPE a [<!ENTITY b "c">]><a/>'],
    ['an entity in an attribute', '<a x="&b;"/>'],
    ['CDATA', '<a><![CDATA[<b/>]]></a>'],
    ['crossed tags', '<a><b></a></b>'],
    ['an end tag alone', '</a>'],
    ['an open element', '<a><b/>'],
    ['an open tag', '<a><b'],
    ['two roots', '<a/><b/>'],
    ['text outside the root', '<a/>b'],
    ['a repeated attribute', '<a x="1" x="2"/>'],
    ['an unquoted attribute', '<a x=1/>'],
    ['no name', '<a>< b/></a>'],
    ['nothing', ''],
    ['plain text', 'Service unavailable'],
    ['endless nesting', '<a>'.repeat(50) + '</a>'.repeat(50)],
  ])('refuses %s', (_what, text) => {
    expect(() => listElements(text)).toThrow(XmlSyntaxError);
  });

  it('refuses a document cut off anywhere', () => {
    const whole = fixture('ecb-daily.xml').trimEnd();
    fc.assert(
      fc.property(fc.integer({ min: 0, max: whole.length - 1 }), (length) => {
        expect(() => listElements(whole.slice(0, length))).toThrow(XmlSyntaxError);
      }),
      { numRuns: 500 },
    );
    expect(listElements(whole).length).toBeGreaterThan(30);
  });

  it('answers any text with elements or a syntax error, nothing else', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('<', '>', '/', '!', '-', '?', '"', "'", '=', ' ', 'a', 'b', '&') }),
        (text) => {
          try {
            listElements(text);
          } catch (error) {
            expect(error).toBeInstanceOf(XmlSyntaxError);
          }
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
