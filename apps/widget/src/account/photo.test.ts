import { KYC_CONTENT_TYPES } from '@causeway/protocol';
import { describe, expect, it } from 'vitest';
import { CONTENT_TYPES, fitted, MOST_BYTES, photoPlan, sniffType } from './photo.ts';

const MB = 1024 * 1024;

describe('a picture before it is sent', () => {
  it('may be what the service takes', () => {
    expect(CONTENT_TYPES).toEqual(KYC_CONTENT_TYPES);
  });

  it('fits into a request of 10 MiB as base64', () => {
    const body = JSON.stringify({
      document_type: 'PROOF_OF_ADDRESS',
      content_type: 'application/pdf',
      content: '',
    });
    const base64 = Math.ceil(MOST_BYTES / 3) * 4;
    expect(base64 + body.length).toBeLessThanOrEqual(10 * MB);
    expect(base64).toBeGreaterThan(9.9 * MB);
  });

  it.each([
    ['image/jpeg', 300_000, { kind: 'send' }],
    ['image/png', 2 * MB, { kind: 'send' }],
    ['image/jpeg', 9 * MB, { kind: 'shrink', longestSide: 2_600 }],
    ['image/jpeg', 40 * MB, { kind: 'shrink', longestSide: 2_600 }],
    ['image/heic', 1_000, { kind: 'shrink', longestSide: 2_600 }],
    ['application/pdf', MOST_BYTES, { kind: 'send' }],
    ['application/pdf', MOST_BYTES + 1, { kind: 'refuse', problem: 'tooLarge' }],
    ['text/html', 10, { kind: 'refuse', problem: 'wrongType' }],
    ['image/svg+xml', 10, { kind: 'refuse', problem: 'wrongType' }],
    ['', 10, { kind: 'refuse', problem: 'wrongType' }],
  ])('%s of %i bytes', (type, size, plan) => {
    expect(photoPlan({ type, size })).toEqual(plan);
  });

  it('keeps its proportions and is never enlarged', () => {
    expect(fitted({ width: 4_000, height: 3_000 }, 2_000)).toEqual({ width: 2_000, height: 1_500 });
    expect(fitted({ width: 3_000, height: 4_000 }, 2_000)).toEqual({ width: 1_500, height: 2_000 });
    expect(fitted({ width: 800, height: 600 }, 2_000)).toEqual({ width: 800, height: 600 });
    expect(fitted({ width: 10_000, height: 1 }, 100)).toEqual({ width: 100, height: 1 });
  });

  it('is what its first bytes say', () => {
    const bytes = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));
    expect(sniffType(bytes('\xff\xd8\xff\xe0'))).toBe('image/jpeg');
    expect(sniffType(bytes('\x89PNG\r\n\x1a\n'))).toBe('image/png');
    expect(sniffType(bytes('RIFF\0\0\0\0WEBPVP8 '))).toBe('image/webp');
    expect(sniffType(bytes('%PDF-1.7'))).toBe('application/pdf');
    expect(sniffType(bytes('<html>'))).toBeUndefined();
    expect(sniffType(new Uint8Array())).toBeUndefined();
  });
});
