import type { QueueKind } from '@causeway/protocol/console';
import type { QueueCaseDetail } from '@causeway/sdk';
import { Alert, Box, Button, Group, Tabs, Text, Title } from '@mantine/core';
import { type ComponentType, lazy, Suspense, useState } from 'react';
import { problemOf } from '../../../api/client.ts';
import { Loading, Problem } from '../../../ui/states.tsx';
import { Id, Money, Time } from '../../../ui/values.tsx';
import { useCase } from './data.ts';
import { DecisionPane } from './decide.tsx';
import { useKeys } from './keys.ts';
import type { PendingDecision } from './pending.tsx';
import { type CaseKeys, ofKind, type PanelProps, type SelectedCase, titleOf } from './selection.ts';

const KycPanel = lazy(() => import('./kyc-panel.tsx'));
const ScreeningPanel = lazy(() => import('./screening-panel.tsx'));
const MoneyPanel = lazy(() => import('./money-panel.tsx'));
const WorkPanel = lazy(() => import('./work-panel.tsx'));
const OrderPanel = lazy(() => import('./order-panel.tsx'));
const ProofPanel = lazy(() => import('./order-panel.tsx').then((panels) => ({ default: panels.ProofPanel })));
const OrderMoney = lazy(() => import('./order-panel.tsx').then((panels) => ({ default: panels.OrderMoney })));
const History = lazy(() => import('./history-panel.tsx'));

/** A panel a kind, each loaded when it is first needed. */
const PANELS: Readonly<Record<QueueKind, ComponentType<PanelProps>>> = {
  kyc: KycPanel,
  proof: ProofPanel,
  hold: OrderPanel,
  dispute: OrderPanel,
  overdue_confirmation: OrderPanel,
  recipient_screening: ScreeningPanel,
  screening_case: ScreeningPanel,
  deposit: MoneyPanel,
  fiat_payment: MoneyPanel,
  offer: WorkPanel,
  effect: WorkPanel,
  reconciliation: WorkPanel,
};

const TABS = ['case', 'order', 'money', 'history'] as const;
type Tab = (typeof TABS)[number];

/** One case: what it is about in the middle, the decision beside it. */
export default function CaseView({
  selected,
  pending,
  onDecided,
  onOffered,
}: {
  readonly selected: SelectedCase;
  readonly pending: PendingDecision;
  readonly onDecided: () => void;
  readonly onOffered: (keys: CaseKeys | null) => void;
}) {
  const query = useCase(selected);
  if (query.isError) {
    return problemOf(query.error).code === 'QUEUE_CASE_NOT_FOUND' ? (
      <Gone onNext={onDecided} />
    ) : (
      <Problem error={query.error} retry={() => void query.refetch()} />
    );
  }
  if (query.data === undefined) return <Loading />;
  return <Waiting detail={query.data} pending={pending} onDecided={onDecided} onOffered={onOffered} />;
}

function Gone({ onNext }: { readonly onNext: () => void }) {
  return (
    <Alert color="blue" title="This case does not wait any more" data-testid="case-gone">
      <Text size="sm" mb="sm">
        It has been decided elsewhere, or has settled by itself.
      </Text>
      <Button size="xs" variant="default" onClick={onNext} data-testid="next-case">
        Next case
      </Button>
    </Alert>
  );
}

function Waiting({
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
  const [tab, setTab] = useState<Tab>('case');
  const hasOrder = detail.order_id !== null;
  const open = (one: Tab) => () => {
    if (hasOrder || one === 'case' || one === 'history') setTab(one);
  };
  useKeys({ '1': open('case'), '2': open('order'), '3': open('money'), '4': open('history') });
  const Panel = ofKind(PANELS, detail.kind) ?? OrderPanel;
  return (
    <Group
      align="flex-start"
      gap="md"
      wrap="wrap"
      data-testid="case"
      data-kind={detail.kind}
      data-subject={detail.subject_id}
    >
      <Box flex={1} miw={{ base: '100%', lg: 0 }}>
        <Title order={2} size="h4">
          {titleOf(detail.kind)}
        </Title>
        <Text mb={4} data-testid="case-says">
          {detail.says}
        </Text>
        <CaseFacts detail={detail} />
        <Tabs value={tab} onChange={(value) => setTab(TABS.find((one) => one === value) ?? 'case')} mt="sm">
          <Tabs.List>
            <Tabs.Tab value="case">1 Case</Tabs.Tab>
            <Tabs.Tab value="order" disabled={!hasOrder}>
              2 Order
            </Tabs.Tab>
            <Tabs.Tab value="money" disabled={!hasOrder}>
              3 Money
            </Tabs.Tab>
            <Tabs.Tab value="history">4 History</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value={tab} pt="md">
            <Suspense fallback={<Loading />}>
              {tab === 'case' ? <Panel detail={detail} /> : null}
              {tab === 'order' ? <OrderPanel detail={detail} /> : null}
              {tab === 'money' ? <OrderMoney detail={detail} /> : null}
              {tab === 'history' ? <History detail={detail} /> : null}
            </Suspense>
          </Tabs.Panel>
        </Tabs>
      </Box>
      <DecisionPane detail={detail} pending={pending} onDecided={onDecided} onOffered={onOffered} />
    </Group>
  );
}

function CaseFacts({ detail }: { readonly detail: QueueCaseDetail }) {
  return (
    <Group gap="md">
      {detail.amount === null ? null : (
        <Text size="sm" fw={600} component="span">
          <Money amount={detail.amount} currency={detail.currency} />
        </Text>
      )}
      <Text size="sm" c="dimmed" component="span">
        Waits since <Time at={detail.created_at} />
      </Text>
      <Text
        size="sm"
        fw={detail.overdue ? 700 : 400}
        c={detail.overdue ? undefined : 'dimmed'}
        component="span"
      >
        Due <Time at={detail.due_at} />
      </Text>
      {detail.order_id === null ? null : (
        <Text size="sm" component="span">
          Order <Id value={detail.order_id} to={`/operator/orders/${detail.order_id}`} name="order id" />
        </Text>
      )}
      {detail.partner_id === null ? null : (
        <Text size="sm" component="span">
          Partner{' '}
          <Id value={detail.partner_id} to={`/operator/partners/${detail.partner_id}`} name="partner id" />
        </Text>
      )}
      {detail.snoozed === null ? null : (
        <Text size="sm" component="span">
          Put off until <Time at={detail.snoozed.until} />: {detail.snoozed.reason}
        </Text>
      )}
    </Group>
  );
}
