import { mkdir, writeFile } from 'node:fs/promises';
import { renderGeneratedModules } from './compile.ts';

/** `npm run build -w contracts`: writes src/generated from the Solidity sources and the published Safe contracts. */
const generatedFolder = new URL('./generated/', import.meta.url);

await mkdir(generatedFolder, { recursive: true });
for (const [fileName, text] of await renderGeneratedModules()) {
  await writeFile(new URL(fileName, generatedFolder), text);
}
