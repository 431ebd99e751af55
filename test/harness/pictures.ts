import type { Page } from 'playwright-core';

/** Encodes pictures side by side as WebP: a browser can, and nothing else needs to be installed. */
export async function composed(
  studio: Page,
  pictures: readonly Buffer[],
  { scale, quality }: { readonly scale: number; readonly quality: number },
): Promise<Buffer> {
  const sources = pictures.map((picture) => `data:image/png;base64,${picture.toString('base64')}`);
  const text = await studio.evaluate<string>(`(async () => {
    const images = await Promise.all(${JSON.stringify(sources)}.map(async (source) => {
      const image = new Image();
      image.src = source;
      await image.decode();
      return image;
    }));
    const gap = 16;
    const canvas = document.createElement('canvas');
    canvas.width = ${scale} * images.reduce((sum, { width }) => sum + width + gap, -gap);
    canvas.height = ${scale} * Math.max(...images.map(({ height }) => height));
    const drawing = canvas.getContext('2d');
    drawing.imageSmoothingQuality = 'high';
    drawing.scale(${scale}, ${scale});
    let x = 0;
    for (const image of images) {
      drawing.drawImage(image, x, 0);
      x += image.width + gap;
    }
    return canvas.toDataURL('image/webp', ${quality}).split(',')[1];
  })()`);
  return Buffer.from(text, 'base64');
}
