import { Type } from 'typebox';
import { Uuid } from './common.ts';
import { FiatAccountId } from './fiat-account.ts';
import { OrderQuery } from './order.ts';

/** What every file of exported rows takes. */

/** A year, leap years included, with both ends counted. */
export const MAX_EXPORT_DAYS = 366;
/** The period that is exported where none is given, `to` included. */
export const DEFAULT_EXPORT_DAYS = 31;

const ExportDate = (description: string, example: string) =>
  Type.Optional(
    Type.String({
      pattern: '^(?:19[7-9][0-9]|2[0-9]{3})-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])$',
      description,
      examples: [example],
    }),
  );

export const ExportQuery = Type.Object({
  from: ExportDate(
    `First day, YYYY-MM-DD; the ${DEFAULT_EXPORT_DAYS} days up to \`to\` where it is absent`,
    '2026-11-01',
  ),
  to: ExportDate(
    `Last day, which counts too; today where it is absent. At most ${MAX_EXPORT_DAYS} days in all`,
    '2026-11-30',
  ),
  time_zone: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      default: 'UTC',
      description: 'IANA name. Days begin, and times are written, by its clock',
      examples: ['Europe/Berlin'],
    }),
  ),
});

/** The same filters as the list of orders. */
export const OrderExportQuery = Type.Object({
  ...ExportQuery.properties,
  status: OrderQuery.properties.status,
  order_type: OrderQuery.properties.order_type,
  user_uuid: OrderQuery.properties.user_uuid,
  reference_id: OrderQuery.properties.reference_id,
});

export const OperatorExportQuery = Type.Object({
  ...ExportQuery.properties,
  partner_id: Type.Optional(Uuid),
});

export const FiatAccountExportParams = Type.Object({ id: FiatAccountId });
