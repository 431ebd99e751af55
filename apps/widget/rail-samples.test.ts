import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type {
  FieldShape,
  RailShape,
} from '../gateway/src/features/payment-details/validation/field-format.types.ts';
import { validateDetails } from '../gateway/src/features/payment-details/validation/validate-details.ts';
import { type RailField, railFieldProblem } from './src/account/rail-fields.ts';

/** How people write the same number: in groups, in small letters, without separators, with the prefix they dial at home. */
const spellings = (value: string): readonly string[] => [
  value,
  value.toLowerCase(),
  value.replace(/(\w{4})(?=\w)/g, '$1 '),
  value.replace(/(\w{4})(?=\w)/g, '$1-'),
  value.replace(/[-./ ]/g, ''),
  value.replace(/^\+\d{2,3}/, '0'),
];

it('the form refuses nothing that the service takes on any rail, however it is written', () => {
  const files = globSync('backends/currencies/data/rails/*.json');
  expect(files.length).toBeGreaterThan(90);
  let taken = 0;
  for (const file of files) {
    const rail = JSON.parse(readFileSync(file, 'utf8')) as RailShape;
    const shapes = [...(rail.fields ?? []), ...(rail.formats ?? []).flatMap(({ fields }) => fields)];
    for (const shape of shapes) {
      const { placeholder } = shape as FieldShape & { placeholder?: string };
      if (placeholder === undefined || shape.options !== undefined) continue;
      const field = { ...shape, max_length: shape.maxLength } as unknown as RailField;
      for (const value of spellings(placeholder)) {
        const alone = { ...rail, fields: [shape], formats: undefined, requireOneOf: undefined };
        if (!validateDetails(alone, { [shape.key]: value }).ok) continue;
        taken += 1;
        expect(railFieldProblem(field, value), `${file} ${shape.key} ${value}`).toBeUndefined();
      }
    }
  }
  expect(taken).toBeGreaterThan(500);
});
