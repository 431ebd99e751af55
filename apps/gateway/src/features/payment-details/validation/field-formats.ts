import { accountFormats } from './account-formats.ts';
import { aliasFormats } from './alias-formats.ts';
import { contactFormats } from './contact-formats.ts';
import type { FieldFormat } from './field-format.types.ts';
import { nameFormats, plainText } from './name-formats.ts';

const FORMATS: ReadonlyMap<string, FieldFormat> = new Map(
  Object.entries({ ...nameFormats, ...contactFormats, ...accountFormats, ...aliasFormats }),
);

/** Names of every format that is checked beyond its pattern or brought into one form. */
export const KNOWN_FORMATS: ReadonlySet<string> = new Set(FORMATS.keys());

/** A format that an operator invents is plain text: its pattern still holds. */
export function formatNamed(format: string | undefined): FieldFormat {
  return (format === undefined ? undefined : FORMATS.get(format)) ?? plainText;
}
