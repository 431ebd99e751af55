export { NAMED_ENUMS } from './enum-meanings.ts';
export { namedSchemas, pascalCase, withoutNull } from './named-schemas.ts';
export { PLACEHOLDERS, REQUEST_EXAMPLES } from './request-examples.ts';
export type { NamedEnum } from './word-meanings.ts';
