import type { SandboxClock, SandboxFaucetInput } from '@causeway/sdk';
import { isCausewayError } from '@causeway/sdk';
import { type Invocation, type Run, text } from '../command.ts';
import { CommandError, EXIT } from '../exit.ts';
import { fields, type Paint } from '../output.ts';
import { durationOf, secondsOf } from '../values.ts';

/** The calls that only a sandbox has; elsewhere they are told as what they are, not as a route that is missing. */
async function onSandbox<Answer>(
  { profile }: Invocation,
  command: string,
  call: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await call();
  } catch (error) {
    if (!isCausewayError(error, 'ROUTE_NOT_FOUND')) throw error;
    const { baseUrl } = await profile();
    throw new CommandError(`${baseUrl} is a live deployment: causeway ${command} is for sandboxes.`, {
      exitCode: EXIT.refused,
    });
  }
}

export const clock: Run = async (invocation) => {
  const { signal } = invocation;
  const causeway = await invocation.client();
  const read = await onSandbox(invocation, 'clock', () => causeway.sandbox.clock({ signal }));
  invocation.output.result(read, (paint) => describeClock(read, paint));
};

export const advance: Run = async (invocation) => {
  const seconds = secondsOf(invocation.args[0] ?? '');
  const { signal } = invocation;
  const causeway = await invocation.client();
  const moved = await onSandbox(invocation, 'clock', () =>
    causeway.sandbox.advanceClock({ seconds }, { signal }),
  );
  invocation.output.result(moved, (paint) => describeClock(moved, paint));
};

export const reset: Run = async (invocation) => {
  const { signal } = invocation;
  const causeway = await invocation.client();
  const back = await onSandbox(invocation, 'clock', () => causeway.sandbox.resetClock({ signal }));
  invocation.output.result(back, (paint) =>
    [
      describeClock(back, paint),
      `Back by ${durationOf(back.moved_back_seconds)}.`,
      ...back.cannot_undo.map(
        ({ what, count, until, message }) =>
          `${count} ${what}${until === null ? '' : `, until ${until}`}: ${message}`,
      ),
    ].join('\n'),
  );
};

function describeClock({ now, offset_seconds: ahead }: SandboxClock, paint: Paint): string {
  return fields(
    [
      ['now', now],
      ['ahead', ahead === 0 ? 'no, as the machine’s' : durationOf(ahead)],
    ],
    paint,
  );
}

/** Tokens or gas for any wallet of a sandbox. */
export const faucet: Run = async (invocation) => {
  const [chain, token, address, amount] = ['chain', 'token', 'address', 'amount'].map((name) => {
    const value = text(invocation, name);
    if (value !== undefined) return value;
    throw new CommandError(`causeway faucet needs --${name}.`, {
      exitCode: EXIT.usage,
      hint: 'causeway help faucet says what it takes.',
    });
  });
  const body = { chain, token, address, amount } as SandboxFaucetInput;
  const { signal } = invocation;
  const causeway = await invocation.client();
  const paid = await onSandbox(invocation, 'faucet', () => causeway.sandbox.faucet(body, { signal }));
  invocation.output.result(paid, (paint) =>
    fields(
      [
        ['paid', `${amount} ${token} to ${address}`],
        ['chain', chain],
        ['transaction', paid.transaction_hash],
      ],
      paint,
    ),
  );
};
