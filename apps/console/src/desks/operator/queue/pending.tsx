import { Anchor, Button, Group, Paper, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { problemOf } from '../../../api/client.ts';
import { Link } from '../../../ui/navigation.tsx';

/** A decision that is made and not sent yet: for five seconds it can be taken back. */
export interface DecisionToSend {
  readonly caseKey: string;
  /** Which case it is, in words: it is no longer shown. */
  readonly caseName: string;
  /** What was decided, in words. */
  readonly label: string;
  readonly send: () => Promise<unknown>;
}

export interface PendingDecision {
  readonly waiting: DecisionToSend | null;
  /** Cases that are decided here and may still be listed. */
  readonly hidden: ReadonlySet<string>;
  readonly failures: ReadonlyMap<string, unknown>;
  decide(decision: DecisionToSend): void;
  /** Answers which case it was about. */
  undo(): string | null;
}

export const UNDO_MS = 5_000;

export function usePendingDecision(): PendingDecision {
  const client = useQueryClient();
  const [waiting, setWaiting] = useState<DecisionToSend | null>(null);
  const [sending, setSending] = useState<ReadonlySet<string>>(new Set());
  const [failures, setFailures] = useState<ReadonlyMap<string, unknown>>(new Map());
  const held = useRef<{ readonly decision: DecisionToSend; readonly timer: number } | null>(null);

  const send = useCallback(
    async (decision: DecisionToSend) => {
      const { caseKey, send: run } = decision;
      setSending((before) => new Set(before).add(caseKey));
      try {
        await run();
      } catch (error) {
        setFailures((before) => new Map(before).set(caseKey, error));
        tellFailure(decision, error);
      }
      await client.invalidateQueries();
      setSending((before) => new Set([...before].filter((key) => key !== caseKey)));
    },
    [client],
  );

  const take = useCallback(() => {
    const taken = held.current;
    if (taken !== null) window.clearTimeout(taken.timer);
    held.current = null;
    setWaiting(null);
    return taken?.decision ?? null;
  }, []);

  const sendNow = useCallback(() => {
    const decision = take();
    if (decision !== null) void send(decision);
  }, [take, send]);

  // Whoever leaves the page has decided; whoever closes the window is asked.
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => {
      if (held.current !== null) event.preventDefault();
    };
    window.addEventListener('beforeunload', ask);
    return () => {
      window.removeEventListener('beforeunload', ask);
      sendNow();
    };
  }, [sendNow]);

  const decide = useCallback(
    (decision: DecisionToSend) => {
      sendNow();
      setFailures((before) => new Map([...before].filter(([key]) => key !== decision.caseKey)));
      held.current = { decision, timer: window.setTimeout(sendNow, UNDO_MS) };
      setWaiting(decision);
    },
    [sendNow],
  );

  const hidden = new Set(waiting === null ? sending : [...sending, waiting.caseKey]);
  return { waiting, hidden, failures, decide, undo: () => take()?.caseKey ?? null };
}

function tellFailure({ label, caseName }: DecisionToSend, error: unknown): void {
  const { code, message } = problemOf(error);
  if (code === 'APPROVAL_REQUIRED') {
    notifications.show({
      color: 'orange',
      autoClose: 10_000,
      title: `${label}: waits for a second person`,
      message: (
        <>
          {caseName}.{' '}
          <Anchor component={Link} to="/operator/approvals">
            Open Approvals
          </Anchor>
        </>
      ),
    });
    return;
  }
  notifications.show({
    color: 'red',
    autoClose: 10_000,
    title: `${label}: not done`,
    message: `${caseName}. ${message}`,
  });
}

/** Says what is about to be sent, and takes it back. */
export function PendingBar({
  pending: { waiting, undo },
  onUndone,
}: {
  readonly pending: PendingDecision;
  readonly onUndone: (caseKey: string) => void;
}) {
  if (waiting === null) return null;
  return (
    <Paper
      withBorder
      shadow="md"
      p="sm"
      role="status"
      data-testid="pending-decision"
      w="max-content"
      maw="calc(100vw - 32px)"
      style={{ position: 'fixed', bottom: 16, left: '50%', transform: 'translateX(-50%)', zIndex: 150 }}
    >
      <Group wrap="nowrap">
        <Text size="sm">
          {waiting.label}: {waiting.caseName}. Sent in five seconds.
        </Text>
        <Button
          size="xs"
          variant="default"
          miw="max-content"
          data-testid="undo"
          onClick={() => {
            const key = undo();
            if (key !== null) onUndone(key);
          }}
        >
          Undo (U)
        </Button>
      </Group>
    </Paper>
  );
}
