import type { QueueCaseDetail } from '@causeway/sdk';
import {
  Alert,
  Anchor,
  Button,
  Checkbox,
  Group,
  Kbd,
  Paper,
  Radio,
  Stack,
  Text,
  Textarea,
  Title,
} from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { api, problemOf } from '../../../api/client.ts';
import { useMay, useSession } from '../../../api/session.ts';
import { Link } from '../../../ui/navigation.tsx';
import { Problem } from '../../../ui/states.tsx';
import { Time } from '../../../ui/values.tsx';
import { useOrderTrail } from './data.ts';
import type { Decision } from './decision.ts';
import { CHECKLISTS, decisionsOf, isAboutOrder } from './decisions.ts';
import { useKeys } from './keys.ts';
import type { PendingDecision } from './pending.tsx';
import { type CaseKeys, keyOf, nameOf, ofKind } from './selection.ts';

/** The right-hand side: who works on the case, what to look at, what can be decided, why. */
export function DecisionPane({
  detail,
  pending,
  onDecided,
  onOffered,
}: {
  readonly detail: QueueCaseDetail;
  readonly pending: PendingDecision;
  readonly onDecided: () => void;
  readonly onOffered: (keys: CaseKeys | null) => void;
}) {
  const may = useMay();
  const [picked, setPicked] = useState<Decision | null>(null);
  const [code, setCode] = useState('');
  const [note, setNote] = useState('');
  const candidates = detail.fiat_payment?.candidate_order_ids ?? [];
  const [orderId, setOrderId] = useState(candidates.length === 1 ? (candidates[0] ?? '') : '');
  const noteField = useRef<HTMLTextAreaElement>(null);

  const trail = useOrderTrail(isAboutOrder(detail) ? detail.order_id : null);
  const decisions = decisionsOf(detail, trail.data?.allowed_actions);
  // The order may have moved on since.
  const chosen = picked !== null && decisions.includes(picked) ? picked : null;
  useOffered(detail, decisions, onOffered);
  const choose = (decision: Decision | undefined) => {
    if (decision === undefined || !may(decision.operation)) return;
    setPicked(decision);
    setCode(decision.reasons[0]?.code ?? '');
  };
  const isReady = chosen !== null && (chosen.choosesOrder !== true || orderId !== '');
  const confirm = () => {
    if (chosen === null || !isReady) return;
    const why = chosen.reasons.find((reason) => reason.code === code)?.label ?? chosen.label;
    const reason = note.trim() === '' ? why : `${why}. ${note.trim()}`;
    pending.decide({
      caseKey: keyOf(detail),
      caseName: nameOf(detail),
      label: chosen.label,
      send: () => chosen.send(detail, { reason, code, orderId }),
    });
    onDecided();
  };

  const byKey = (key: Decision['key']) => () => choose(decisions.find((one) => one.key === key));
  useKeys({
    a: byKey('A'),
    r: byKey('R'),
    q: byKey('Q'),
    e: byKey('E'),
    n: () => noteField.current?.focus(),
    'mod+enter': confirm,
  });

  return (
    <Paper withBorder p="md" w={{ base: '100%', lg: 270, xl: 360 }} component="section" aria-label="Decision">
      <Stack gap="sm">
        <Claim detail={detail} />
        <Failure error={pending.failures.get(keyOf(detail))} />
        <Checklist labels={ofKind(CHECKLISTS, detail.kind) ?? []} />
        <Title order={2} size="h5">
          Decide
        </Title>
        <Stack gap={6}>
          {decisions.map((decision) => (
            <Button
              key={decision.label}
              variant={chosen === decision ? 'filled' : 'light'}
              color={decision.color}
              justify="space-between"
              // A label that is longer than the pane is wide takes a second line.
              h="auto"
              mih={36}
              py={6}
              styles={{ label: { whiteSpace: 'normal', textAlign: 'start', lineHeight: 1.3 } }}
              rightSection={<Kbd size="xs">{decision.key}</Kbd>}
              disabled={!may(decision.operation)}
              aria-pressed={chosen === decision}
              onClick={() => choose(decision)}
              data-testid={`decide-${decision.key.toLowerCase()}`}
            >
              {decision.label}
            </Button>
          ))}
        </Stack>
        {chosen === null ? null : (
          <ChosenDecision
            chosen={chosen}
            code={code}
            setCode={setCode}
            candidates={candidates}
            orderId={orderId}
            setOrderId={setOrderId}
          />
        )}
        <Textarea
          ref={noteField}
          label="Note"
          description="Kept in the audit log; name no person in it"
          maxLength={300}
          autosize
          minRows={2}
          value={note}
          onChange={({ currentTarget }) => setNote(currentTarget.value)}
          data-testid="note"
        />
        <Button disabled={!isReady} onClick={confirm} data-testid="confirm-decision">
          Confirm (Ctrl Enter)
        </Button>
      </Stack>
    </Paper>
  );
}

/** Tells the page which keys work here, for its hints and its list of keys. */
function useOffered(
  { kind, order_id }: QueueCaseDetail,
  decisions: readonly Decision[],
  onOffered: (keys: CaseKeys | null) => void,
): void {
  const may = useMay();
  const hasOrder = order_id !== null;
  const offered = JSON.stringify(
    decisions.filter(({ operation }) => may(operation)).map(({ key, label }) => ({ key, label })),
  );
  useEffect(() => {
    onOffered({ kind, hasOrder, decisions: JSON.parse(offered) });
    return () => onOffered(null);
  }, [kind, hasOrder, offered, onOffered]);
}

function ChosenDecision({
  chosen,
  code,
  setCode,
  candidates,
  orderId,
  setOrderId,
}: {
  readonly chosen: Decision;
  readonly code: string;
  readonly setCode: (code: string) => void;
  readonly candidates: readonly string[];
  readonly orderId: string;
  readonly setOrderId: (orderId: string) => void;
}) {
  return (
    <Stack gap="xs" data-testid="chosen" data-decision={chosen.key}>
      <Text size="sm">{chosen.says}</Text>
      {chosen.choosesOrder === true ? (
        <Radio.Group label="Which order it pays" value={orderId} onChange={setOrderId} size="sm">
          <Stack gap={4} mt={4}>
            {candidates.map((id) => (
              <Radio key={id} value={id} label={id} data-testid="candidate" size="xs" />
            ))}
          </Stack>
        </Radio.Group>
      ) : null}
      <Radio.Group label="Why" value={code} onChange={setCode} size="sm">
        <Stack gap={4} mt={4}>
          {chosen.reasons.map((reason) => (
            <Radio key={reason.code} value={reason.code} label={reason.label} size="xs" />
          ))}
        </Stack>
      </Radio.Group>
    </Stack>
  );
}

function Checklist({ labels }: { readonly labels: readonly string[] }) {
  return (
    <Stack gap={4}>
      <Title order={2} size="h5">
        Look at
      </Title>
      {labels.map((label) => (
        <Checkbox key={label} size="xs" label={label} />
      ))}
    </Stack>
  );
}

/** What became of a decision that was sent and not taken. */
function Failure({ error }: { readonly error: unknown }) {
  if (error === undefined) return null;
  if (problemOf(error).code !== 'APPROVAL_REQUIRED') return <Problem error={error} />;
  return (
    <Alert color="orange" title="Waits for a second person" data-testid="waits-for-approval">
      <Text size="sm">
        Your decision is kept. Another operator approves it under{' '}
        <Anchor component={Link} to="/operator/approvals">
          Approvals
        </Anchor>
        .
      </Text>
    </Alert>
  );
}

/** Who works on the case. C claims it, and releases it again. */
function Claim({ detail }: { readonly detail: QueueCaseDetail }) {
  const { user } = useSession();
  const may = useMay();
  const client = useQueryClient();
  const { assignee, kind, subject_id: id } = detail;
  const isMine = assignee?.id === user.user_id;
  const mutation = useMutation({
    mutationFn: () => (isMine ? api.operator.queue.release(kind, id) : api.operator.queue.claim(kind, id)),
    onError: (error) => notifications.show({ color: 'red', message: problemOf(error).message }),
    onSettled: () => client.invalidateQueries({ queryKey: ['queue'] }),
  });
  const toggle = () => {
    if (may('claimQueueCase') && !mutation.isPending) mutation.mutate();
  };
  useKeys({ c: toggle });
  return (
    <Group justify="space-between">
      <Text
        size="sm"
        data-testid="claim-state"
        data-claim={assignee === null ? 'none' : isMine ? 'mine' : 'other'}
      >
        {assignee === null ? (
          'No one works on it'
        ) : (
          <>
            {isMine ? 'Yours' : assignee.name} until <Time at={assignee.until} />
          </>
        )}
      </Text>
      <Button
        size="compact-sm"
        variant="default"
        loading={mutation.isPending}
        disabled={!may('claimQueueCase') || (assignee !== null && !isMine)}
        onClick={toggle}
        rightSection={<Kbd size="xs">C</Kbd>}
        data-testid="claim"
      >
        {isMine ? 'Release' : 'Claim'}
      </Button>
    </Group>
  );
}
