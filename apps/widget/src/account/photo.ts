import type { KycContentType } from '@causeway/protocol';

/** What happens to a picture before it is sent. */
export type PhotoPlan =
  | { readonly kind: 'send' }
  /** Drawn anew at most this many pixels wide and high. */
  | { readonly kind: 'shrink'; readonly longestSide: number }
  | { readonly kind: 'refuse'; readonly problem: 'wrongType' | 'tooLarge' };

export const CONTENT_TYPES: readonly KycContentType[] = [
  'image/jpeg',
  'image/png',
  'image/webp',
  'application/pdf',
];

/** Of the whole request, in which base64 takes four bytes for three, and the rest of the JSON a little. */
const REQUEST_BYTES = 10 * 1024 * 1024;
export const MOST_BYTES = Math.floor(((REQUEST_BYTES - 1_024) * 3) / 4);
/** Enough to read the small print of a passport; a phone’s camera takes twice that. */
const LONGEST_SIDE = 2_600;
/** A photo below this is sent as it is, whatever it measures: it uploads within seconds on a slow line. */
const COMFORTABLE_BYTES = 2 * 1024 * 1024;
/** Phones take photos in formats of their own, which the canvas of the same browser can often read. */
const CONVERTIBLE = /^image\/(?:hei[cf]|avif|gif|bmp|tiff)$/;

/** Judged by type and size alone, before anything is read. */
export function photoPlan({ type, size }: { readonly type: string; readonly size: number }): PhotoPlan {
  if (type === 'application/pdf') {
    return size > MOST_BYTES ? { kind: 'refuse', problem: 'tooLarge' } : { kind: 'send' };
  }
  if (CONVERTIBLE.test(type)) return { kind: 'shrink', longestSide: LONGEST_SIDE };
  if (!(CONTENT_TYPES as readonly string[]).includes(type)) return { kind: 'refuse', problem: 'wrongType' };
  return size > COMFORTABLE_BYTES ? { kind: 'shrink', longestSide: LONGEST_SIDE } : { kind: 'send' };
}

/** Width and height that keep the proportions; a picture that fits is not enlarged. */
export function fitted(
  { width, height }: { readonly width: number; readonly height: number },
  longestSide: number,
): { readonly width: number; readonly height: number } {
  const factor = Math.min(1, longestSide / Math.max(width, height));
  return { width: Math.max(1, Math.round(width * factor)), height: Math.max(1, Math.round(height * factor)) };
}

/** The type by the first bytes: what a phone calls a file is not always what it is, and the service looks too. */
export function sniffType(bytes: Uint8Array): KycContentType | undefined {
  const text = String.fromCharCode(...bytes.subarray(0, 16));
  if (text.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (text.startsWith('RIFF') && text.slice(8, 12) === 'WEBP') return 'image/webp';
  return text.startsWith('%PDF-') ? 'application/pdf' : undefined;
}
