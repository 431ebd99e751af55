import type { PaymentFieldView, RailFormatView, RailView } from './catalogue-views.ts';
import type { Direction, PaymentField, Rail, RailFormat } from './reference-data.ts';

/** Whether a format has configured liquidity; undefined means unknown, and the wire then says nothing. */
export type HasLiquidity = (direction: Direction, railSlug: string, formatId: string) => boolean | undefined;

export function toRailView(rail: Rail, direction: Direction, hasLiquidity: HasLiquidity): RailView {
  const { settlement, limits, formats } = rail;
  return {
    slug: rail.slug,
    name: rail.name,
    institution_required: rail.institutionRequired,
    institution_lookup_key: rail.institutionLookupKey,
    currencies: rail.currencies,
    countries: rail.countries,
    directions: rail.directions,
    settlement: settlement && {
      speed: settlement.speed,
      typical_minutes: settlement.typicalMinutes,
      note: settlement.note,
    },
    limits: limits && {
      min_amount: toWireNumber(limits.minAmount),
      max_amount: toWireNumber(limits.maxAmount),
      max_per_transaction: toWireNumber(limits.maxPerTransaction),
    },
    fields: fieldsOfRail(rail).map(toFieldView),
    ...(rail.requireOneOf && { require_one_of: rail.requireOneOf }),
    ...(formats && {
      formats: formats.map((format) => toFormatView(format, hasLiquidity(direction, rail.slug, format.id))),
    }),
  };
}

/**
 * The single set of fields of a rail. On a multi-format rail it is the best effort of the contract: the fields of
 * all formats, required only where every format requires them.
 */
export function fieldsOfRail(rail: Rail): readonly PaymentField[] {
  if (rail.fields !== undefined) return rail.fields;
  const formats = rail.formats ?? [];
  const merged = new Map<string, PaymentField>();
  for (const field of formats.flatMap((format) => format.fields)) {
    if (!merged.has(field.key)) merged.set(field.key, field);
  }
  return [...merged.values()].map((field) => ({
    ...field,
    required: formats.every((format) =>
      format.fields.some((other) => other.key === field.key && other.required),
    ),
  }));
}

function toFormatView(format: RailFormat, liquidity: boolean | undefined): RailFormatView {
  return {
    id: format.id,
    name: format.name,
    institution_types: format.institutionTypes,
    ...(liquidity !== undefined && { has_liquidity: liquidity }),
    ...(format.beneficiaryType && { beneficiary_type: format.beneficiaryType }),
    fields: format.fields.map(toFieldView),
  };
}

function toFieldView(field: PaymentField): PaymentFieldView {
  return {
    key: field.key,
    label: field.label,
    type: field.type,
    required: field.required,
    ...(field.pattern !== undefined && { pattern: field.pattern }),
    ...(field.placeholder !== undefined && { placeholder: field.placeholder }),
    max_length: field.maxLength,
    ...(field.lookup !== undefined && { lookup: field.lookup }),
    ...(field.options !== undefined && { options: field.options }),
  };
}

/** The contract writes limits as JSON numbers. Only the listing does: amounts are compared in their exact form. */
function toWireNumber(amount: string | null): number | null {
  return amount === null ? null : Number(amount);
}
