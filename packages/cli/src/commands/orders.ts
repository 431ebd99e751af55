import type { Run } from '../command.ts';
import { fields } from '../output.ts';

export const show: Run = async ({ args, client, output }) => {
  const order = await (await client()).orders.get(args[0] ?? '');
  output.result(order, (paint) =>
    fields(
      [
        ['order', order.order_id],
        ['status', paint('bold', order.status)],
      ],
      paint,
    ),
  );
};
