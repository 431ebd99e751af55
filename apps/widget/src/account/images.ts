import type { KycContentType } from '@causeway/protocol';
import { fitted, MOST_BYTES, photoPlan, sniffType } from './photo.ts';

/** A picture as it is sent. */
export interface Picture {
  readonly blob: Blob;
  readonly type: KycContentType;
}

export type PictureProblem = 'wrongType' | 'tooLarge' | 'unreadable';

export class PictureError extends Error {
  override readonly name = 'PictureError';
  readonly problem: PictureProblem;

  constructor(problem: PictureProblem) {
    super(problem);
    this.problem = problem;
  }
}

/** What was chosen or taken, in a type and size that the service takes. */
export async function preparePicture(file: Blob): Promise<Picture> {
  const sniffed = sniffType(new Uint8Array(await file.slice(0, 16).arrayBuffer()));
  // A file that only calls itself a JPEG is none; formats of phones have no bytes that we know.
  const type = sniffed ?? (/^image\/(?:jpeg|png|webp)$/.test(file.type) ? '' : file.type);
  const plan = photoPlan({ type, size: file.size });
  if (plan.kind === 'refuse') throw new PictureError(plan.problem);
  if (plan.kind === 'send' && sniffed !== undefined) return { blob: file, type: sniffed };
  if (plan.kind === 'shrink') return redraw(file, plan.longestSide);
  throw new PictureError('wrongType');
}

const QUALITIES = [0.88, 0.75, 0.6];

/** Drawn anew as a JPEG: smaller, upright, and without the place where it was taken. */
async function redraw(file: Blob, longestSide: number): Promise<Picture> {
  const bitmap = await createImageBitmap(file).catch(() => {
    throw new PictureError('unreadable');
  });
  const { width, height } = fitted(bitmap, longestSide);
  const canvas = document.createElement('canvas');
  canvas.width = width;
  canvas.height = height;
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0, width, height);
  bitmap.close();
  for (const quality of QUALITIES) {
    const blob = await jpegOf(canvas, quality);
    if (blob.size <= MOST_BYTES) return { blob, type: 'image/jpeg' };
  }
  throw new PictureError('tooLarge');
}

export function jpegOf(canvas: HTMLCanvasElement, quality: number): Promise<Blob> {
  return new Promise((resolve, reject) => {
    canvas.toBlob(
      (blob) => (blob === null ? reject(new PictureError('unreadable')) : resolve(blob)),
      'image/jpeg',
      quality,
    );
  });
}

export function base64Of(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''));
    reader.onerror = () => reject(new PictureError('unreadable'));
    reader.readAsDataURL(blob);
  });
}
