import type { TObject, TSchema } from 'typebox';
import { PARTNER_EVENTS, VENDOR_EVENTS, VendorEventSchema } from '../../packages/protocol/src/index.ts';

type Registry = Readonly<Record<string, { readonly when: string; readonly data: TObject }>>;

/** docs/reference/events.md: the registry of events as partners and vendors read it. */
export function renderEvents(): string {
  return `# Events

<!-- Made by npm run docs from packages/protocol/src/wire/events.ts. Do not edit. -->

Every event to a partner is \`{ "event_id", "event_type", "created_at", "data" }\`, the same by webhook and in the stream. How they are signed,
delivered and replayed is in [webhooks](../guides/webhooks.md). New types and new fields may be added; ignore what you do not know.

## To partners

${table(PARTNER_EVENTS)}

${Object.entries(PARTNER_EVENTS)
  .map(([type, { data }]) => `### ${type}\n\n${fields(data, 'data.')}`)
  .join('\n\n')}

## To vendors

In \`GET /vendor/events\`, see [vendors](../guides/vendors.md#being-notified-of-orders). All carry the same fields.

${table(VENDOR_EVENTS)}

${fields(VendorEventSchema, '')}
`;
}

function table(events: Registry): string {
  const rows = Object.entries(events).map(([type, { when }]) => `| \`${type}\` | ${when} |`);
  return ['| Event | Sent when |', '|---|---|', ...rows].join('\n');
}

function fields(schema: TObject, prefix: string): string {
  const required = new Set(schema.required as readonly string[] | undefined);
  const rows = Object.entries(schema.properties as Record<string, Described>).map(([name, field]) => {
    const type = `${typeOf(field)}${required.has(name) ? '' : ', may be absent'}`;
    return `| \`${prefix}${name}\` | ${type} | ${noteOn(field)} |`;
  });
  return ['| Field | Type | |', '|---|---|---|', ...rows].join('\n');
}

/** What these pages say of a schema. */
type Described = TSchema & {
  readonly type?: string;
  readonly format?: string;
  readonly pattern?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly const?: string;
  readonly items?: Described;
  readonly anyOf?: readonly Described[];
  readonly properties?: Readonly<Record<string, Described>>;
};

function typeOf(field: Described): string {
  if (field.anyOf !== undefined) return field.anyOf.map(typeOf).join(' or ');
  if (field.type === 'array') return `array of ${typeOf(field.items ?? ({} as Described))}`;
  if (field.format === 'date-time') return 'time';
  return field.pattern?.startsWith('^[0-9a-fA-F]{8}-') ? 'uuid' : (field.type ?? 'any');
}

function noteOn(field: Described): string {
  const values = field.const !== undefined ? [field.const] : (field.enum ?? []);
  const parts = [field.description ?? '', values.map((value) => `\`${value}\``).join(', ')];
  // What an object that is written out in place consists of; orders have their own pages.
  const inside = field.properties && !field.anyOf ? Object.keys(field.properties) : [];
  parts.push(inside.map((name) => `\`${name}\``).join(', '));
  return parts.filter((part) => part !== '').join(': ');
}
