/**
 * docs/reference/rails.md: every rail with its fields, written from the data so that it cannot disagree with it.
 * `node scripts/docs/rails.ts` writes the page.
 */
import { writeFileSync } from 'node:fs';
import {
  loadReferenceFiles,
  type PaymentField,
  type Rail,
} from '../../backends/currencies/src/catalogue/index.ts';

const page = new URL('../../docs/reference/rails.md', import.meta.url);

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const code = (text: string): string => `\`${cell(text)}\``;

export function renderRails(): string {
  const { rails } = loadReferenceFiles();
  const lines = [
    '# Payment rails',
    '',
    'Generated from `backends/currencies/data/rails` by `node scripts/docs/rails.ts`; do not edit.',
    '',
    `${rails.length} rails. Amounts are in the currency of the rail; a dash means no limit.`,
    '',
    '| Rail | Name | Currency | Countries | Directions | Settlement | Minimum | Maximum | Institution |',
    '|---|---|---|---|---|---|---|---|---|',
    ...rails.map(toSummaryRow),
    '',
    '## Fields',
    '',
    'A required field is marked with a star. Where a rail has formats, the format is the one whose institution types',
    'contain the type of the chosen institution (and whose beneficiary type is the one to be paid).',
    ...rails.flatMap(toFieldSection),
    '',
  ];
  return lines.join('\n');
}

function toSummaryRow(rail: Rail): string {
  const { settlement, limits } = rail;
  const institution = rail.institutionRequired
    ? 'required'
    : `optional, ${code(rail.defaultInstitution ?? '')}`;
  const cells = [
    `[${rail.slug}](#${rail.slug})`,
    cell(rail.name),
    rail.currencies.join(', '),
    rail.countries.join(', '),
    rail.directions.join(', '),
    settlement === null ? '–' : `${settlement.speed}, about ${settlement.typicalMinutes} min`,
    limits?.minAmount ?? '–',
    limits?.maxPerTransaction ?? limits?.maxAmount ?? '–',
    institution,
  ];
  return `| ${cells.join(' | ')} |`;
}

function toFieldSection(rail: Rail): string[] {
  const heading = ['', `### ${rail.slug}`, ''];
  const note = rail.settlement?.note ? [`${rail.settlement.note}`, ''] : [];
  const oneOf = (rail.requireOneOf ?? []).flatMap((group) => [
    `At least one of ${group.map(code).join(', ')} is required.`,
    '',
  ]);
  const tables =
    rail.formats === undefined
      ? toFieldTable(rail.fields ?? [])
      : rail.formats.flatMap((format, index) => [
          ...(index === 0 ? [] : ['']),
          `Format ${code(format.id)} (${format.name}) for ${format.institutionTypes.map(code).join(', ')}${
            format.beneficiaryType ? `, beneficiary type ${code(format.beneficiaryType)}` : ''
          }:`,
          '',
          ...toFieldTable(format.fields),
        ]);
  return [...heading, ...note, ...oneOf, ...tables];
}

function toFieldTable(fields: readonly PaymentField[]): string[] {
  return [
    '| Field | Label | Type | Length | Pattern or options | Example |',
    '|---|---|---|---|---|---|',
    ...fields.map((field) => {
      const options = field.options?.map((option) => code(option.code)).join(', ');
      const allowed = options ?? (field.pattern === undefined ? '' : code(field.pattern));
      const example = field.placeholder === undefined ? '' : code(field.placeholder);
      const key = `${code(field.key)}${field.required ? ' *' : ''}`;
      return `| ${key} | ${cell(field.label)} | ${field.type} | ${field.maxLength} | ${allowed} | ${example} |`;
    }),
  ];
}

if (import.meta.main) writeFileSync(page, renderRails());
