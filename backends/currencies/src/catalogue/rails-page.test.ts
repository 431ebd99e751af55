import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { renderRails } from '../../../../scripts/docs/rails.ts';

it('docs/reference/rails.md is what the data says today', () => {
  const page = readFileSync(new URL('../../../../docs/reference/rails.md', import.meta.url), 'utf8');
  expect(page).toBe(renderRails());
});
