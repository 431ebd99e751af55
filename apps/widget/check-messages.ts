import {
  catalogueProblems,
  fillCatalogue,
  orderProblems,
  readCatalogue,
  sameAsEnglish,
} from './message-catalogue.ts';
import { messageUses, readSources, useProblems } from './message-uses.ts';

/**
 * `npm run widget:messages` lists what is missing or wrong; with `-- --fill` it sorts the files and writes the English text
 * where a language has none. What still reads as in English is listed, and is no error: some words are the same.
 */
if (process.argv.includes('--fill')) fillCatalogue();
const catalogue = readCatalogue();
const problems = [
  ...catalogueProblems(catalogue),
  ...orderProblems(catalogue),
  ...useProblems(catalogue.en ?? {}, messageUses(readSources())),
];
const same = sameAsEnglish(catalogue);
const keys = Object.values(catalogue.en ?? {}).reduce((sum, area) => sum + Object.keys(area).length, 0);
if (same.length > 0) process.stdout.write(`As in English (${same.length}):\n${same.join('\n')}\n`);
if (problems.length > 0) process.stdout.write(`Wrong (${problems.length}):\n${problems.join('\n')}\n`);
else process.stdout.write(`${keys} messages in ${Object.keys(catalogue).length} languages: complete\n`);
process.exitCode = problems.length > 0 ? 1 : 0;
