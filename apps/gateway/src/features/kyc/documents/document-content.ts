import type { KycContentType } from '@causeway/protocol';
import { invalidRequest } from '../../../http/errors.ts';

/** Of the request that carries a document as base64 in JSON; the one bound of its size. */
export const DOCUMENT_BODY_BYTES = 10 * 1024 * 1024;
const MIN_DOCUMENT_BYTES = 64;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** The bytes of an uploaded document, once they are what they claim to be. */
export function readDocumentContent(content: string, contentType: KycContentType): Buffer {
  const text = content.replace(/\s/g, '');
  if (text.length % 4 !== 0 || !BASE64.test(text)) throw invalidRequest('content', 'must be base64');
  const bytes = Buffer.from(text, 'base64');
  const found = sniffContentType(bytes);
  if (bytes.length < MIN_DOCUMENT_BYTES || found === undefined) {
    throw invalidRequest('content', 'is not a JPEG, PNG, WebP or PDF file');
  }
  if (found !== contentType)
    throw invalidRequest('content_type', `says ${contentType}, the content is ${found}`);
  return bytes;
}

/** Told by the first bytes, whatever the sender calls it. */
export function sniffContentType(bytes: Uint8Array): KycContentType | undefined {
  const text = Buffer.from(bytes.subarray(0, 16)).toString('latin1');
  if (text.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (text.startsWith('RIFF') && text.slice(8, 12) === 'WEBP') return 'image/webp';
  return text.startsWith('%PDF-') ? 'application/pdf' : undefined;
}
