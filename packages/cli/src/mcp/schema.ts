import { PATTERN_WORDS } from '../generated/codes.ts';

/** The part of JSON Schema in which tools say what they take; `check` holds arguments against it. */
export type Schema =
  | {
      readonly type: 'string';
      readonly description?: string;
      readonly enum?: readonly string[];
      readonly pattern?: string;
      readonly maxLength?: number;
      readonly default?: string;
    }
  | {
      readonly type: 'integer';
      readonly description?: string;
      readonly minimum: number;
      readonly maximum: number;
      readonly default?: number;
    }
  | { readonly type: 'boolean'; readonly description?: string; readonly default?: boolean }
  | {
      readonly type: 'array';
      readonly description?: string;
      readonly items: Schema;
      readonly maxItems: number;
    }
  | ObjectSchema;

export interface ObjectSchema {
  readonly type: 'object';
  readonly description?: string;
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  /** A schema where names are free. */
  readonly additionalProperties: false | Schema;
}

/** A value longer than this is a mistake, whatever the field. */
const LONGEST_TEXT = 500;
const MOST_PROPERTIES = 50;

/** Of a pattern that the API does not have. */
const OWN_WORDS: Readonly<Record<string, string>> = {
  '^[0-9]{1,18}([.][0-9]{1,18})?$': 'must be a decimal such as 100.00',
  '^[a-z0-9-]{1,80}$': 'must be 1 to 80 small letters, digits or hyphens',
  '^[A-Za-z_]{2,60}$': 'must be 2 to 60 letters or underscores',
  '[\\p{L}\\p{N}_]{2,}': 'must have a word of at least two letters or digits',
};

/** What a text that does not match is told: the regular expression would say little to a model and less to a person. */
export const WORDS: Readonly<Record<string, string>> = { ...PATTERN_WORDS, ...OWN_WORDS };
const UNFIT_FORM = 'does not have the form that is described';

/** What does not fit, each with its place; none where all does. */
export function check(schema: Schema, value: unknown, path = ''): string[] {
  const say = (message: string) => [`${path === '' ? 'arguments' : path}: ${message}`];
  switch (schema.type) {
    case 'string':
      return checkText(schema, value, say);
    case 'integer': {
      const { minimum, maximum } = schema;
      const fits = Number.isSafeInteger(value) && Number(value) >= minimum && Number(value) <= maximum;
      return fits ? [] : say(`must be an integer from ${minimum} to ${maximum}`);
    }
    case 'boolean':
      return typeof value === 'boolean' ? [] : say('must be true or false');
    case 'array':
      if (!Array.isArray(value)) return say('must be a list');
      if (value.length > schema.maxItems) return say(`must have at most ${schema.maxItems} items`);
      return value.flatMap((item, index) => check(schema.items, item, `${path}[${index}]`));
    case 'object':
      return checkObject(schema, value, path, say);
  }
}

type Say = (message: string) => string[];

function checkText(schema: Extract<Schema, { type: 'string' }>, value: unknown, say: Say): string[] {
  if (typeof value !== 'string') return say('must be a string');
  const longest = schema.maxLength ?? LONGEST_TEXT;
  if (value.length > longest) return say(`must have at most ${longest} characters`);
  if (schema.enum !== undefined && !schema.enum.includes(value)) {
    return say(`must be one of ${schema.enum.join(', ')}`);
  }
  if (schema.pattern !== undefined && !new RegExp(schema.pattern, 'u').test(value)) {
    return say(WORDS[schema.pattern] ?? UNFIT_FORM);
  }
  return [];
}

function checkObject(schema: ObjectSchema, value: unknown, path: string, say: Say): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return say('must be an object');
  const { properties, required = [], additionalProperties } = schema;
  const entries = Object.entries(value);
  if (entries.length > MOST_PROPERTIES) return say(`must have at most ${MOST_PROPERTIES} fields`);
  const place = (name: string) => (path === '' ? name : `${path}.${name}`);
  const missing = required.filter((name) => !Object.hasOwn(value, name));
  return [
    ...missing.map((name) => `${place(name)}: is required`),
    ...entries.flatMap(([name, one]) => {
      const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (known !== undefined) return check(known, one, place(name));
      if (additionalProperties === false) return [`${place(name.slice(0, 50))}: is not known`];
      return check(additionalProperties, one, place(name.slice(0, 50)));
    }),
  ];
}
