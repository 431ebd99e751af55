/**
 * Records are written in camel case, as code reads them; the wire is snake case. Only the names of fields change: the keys
 * of these two maps are data (a rail's slug, a detail's key) and stay as they are.
 */
const MAPS_OF_DATA: ReadonlySet<string> = new Set(['codes', 'fieldLimits', 'field_limits']);

export function toSnakeCase(value: unknown): unknown {
  return renamed(value, (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
}

export function toCamelCase(value: unknown): unknown {
  return renamed(value, (name) =>
    name.replace(/_([a-z0-9])/g, (_all, letter: string) => letter.toUpperCase()),
  );
}

function renamed(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => renamed(item, rename));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      rename(name),
      MAPS_OF_DATA.has(name) ? field : renamed(field, rename),
    ]),
  );
}
