import type { OrderAuditTrail } from '@causeway/sdk';
import { Alert, Badge, Box, Card, Group, SimpleGrid, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { Json } from '../../ui/code.tsx';
import { useParam } from '../../ui/navigation.tsx';
import { PageTabs } from '../../ui/page-tabs.tsx';
import { Empty, Loaded, PageHead } from '../../ui/states.tsx';
import { Fact, Id, Money, Status, Time } from '../../ui/values.tsx';
import { words } from '../../ui/words.ts';
import { AuditTable } from './audit-entries.tsx';
import { Decisions, reasonText } from './order-decisions.tsx';
import { Effects, Escrow, Machine, Webhooks } from './order-sections.tsx';
import { Party } from './parties.tsx';

const REFETCH_MS = 5_000;

export default function OperatorOrderPage() {
  const orderId = useParam('orderId');
  const query = useQuery({
    queryKey: ['operator', 'order', orderId],
    queryFn: ({ signal }) => api.operator.orders.get(orderId, { signal }),
    refetchInterval: REFETCH_MS,
  });
  return (
    <Loaded query={query} page={{ title: 'Order', list: '/operator/orders', listTitle: 'All orders' }}>
      {(trail) => <OrderView trail={trail} />}
    </Loaded>
  );
}

function OrderView({ trail }: { readonly trail: OrderAuditTrail }) {
  const { order, funds } = trail;
  return (
    <>
      <PageHead
        title={
          <Group gap="sm">
            Order <Id value={order.order_id} name="order id" whole />
          </Group>
        }
        about={funds.summary}
      >
        <Status value={order.status} />
        {order.held_for_review ? (
          <Badge color="orange" variant="light" tt="none" data-testid="held">
            held for review
          </Badge>
        ) : null}
      </PageHead>
      <Reasons trail={trail} />
      <Decisions trail={trail} />
      <PageTabs
        tabs={[
          { value: 'overview', title: 'Overview', content: () => <Overview trail={trail} /> },
          { value: 'money', title: 'Escrow and funds', content: () => <Escrow trail={trail} /> },
          { value: 'history', title: 'State and history', content: () => <Machine trail={trail} /> },
          { value: 'work', title: 'Effects', content: () => <Effects trail={trail} /> },
          { value: 'webhooks', title: 'Webhooks', content: () => <Webhooks trail={trail} /> },
          {
            value: 'audit',
            title: 'Audit',
            content: () =>
              trail.audit.length === 0 ? (
                <Empty title="No operator has touched this order" />
              ) : (
                <AuditTable entries={trail.audit} />
              ),
          },
          { value: 'json', title: 'JSON', content: () => <Json value={trail} label="Audit trail" /> },
        ]}
      />
    </>
  );
}

function Reasons({ trail: { order } }: { readonly trail: OrderAuditTrail }) {
  return (
    <>
      {order.hold ? (
        <Alert color="orange" mb="sm" title="Held for review" data-testid="hold-reason">
          {reasonText(order.hold)}
        </Alert>
      ) : null}
      {order.failure ? (
        <Alert color="red" mb="sm" title="Why it stopped" data-testid="failure-reason">
          {reasonText(order.failure)}
          {order.cancelled_by ? ` (by ${order.cancelled_by})` : ''}
        </Alert>
      ) : null}
    </>
  );
}

function Facts({ title, children }: { readonly title: string; readonly children: React.ReactNode }) {
  return (
    <Card withBorder>
      <Text component="h2" fw={600} m={0} mb="xs">
        {title}
      </Text>
      <Box component="dl" m={0}>
        {children}
      </Box>
    </Card>
  );
}

/** Both sides and what is exchanged. People are named by their ids only; the queue shows them to reviewers. */
function Overview({ trail: { order, funds, signatures } }: { readonly trail: OrderAuditTrail }) {
  const crypto = order.crypto_currency;
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <Facts title="The customer’s side">
        <Fact label="Partner">
          <Party kind="partners" id={order.partner_id} />
        </Fact>
        <Fact label="Partner’s reference">{order.reference_id ?? '–'}</Fact>
        <Fact label="Customer">
          <Id value={order.user_id} name="customer id" />
        </Fact>
        <Fact label="Customer’s KYC">
          <Status value={order.kyc_status} />
        </Fact>
        <Fact label="Opened through">{order.origin === 'widget' ? 'the widget' : 'the API'}</Fact>
        <Fact label="Wallet">
          <Id
            value={order.direction === 'onramp' ? funds.escrow?.owners.buyer : funds.escrow?.owners.seller}
            name="wallet"
          />
        </Fact>
      </Facts>
      <Facts title="The vendor’s side">
        <Fact label="Vendor">
          <Party kind="vendors" id={order.vendor_id} />
        </Fact>
        <Fact label="Rail">{order.payment_network_slug}</Fact>
        <Fact label="Institution">{order.payment_method_slug}</Fact>
        <Fact label="Wallet">
          <Id
            value={order.direction === 'onramp' ? funds.escrow?.owners.seller : funds.escrow?.owners.buyer}
            name="wallet"
          />
        </Fact>
        <Fact label="Signed by owners">
          {signatures.length === 0
            ? 'nobody yet'
            : signatures.map(({ purpose }) => (purpose === 'release' ? 'payout' : 'refund')).join(', ')}
        </Fact>
      </Facts>
      <Facts title="Amounts">
        <Fact label={order.direction === 'onramp' ? 'Customer pays' : 'Customer receives'}>
          <Money amount={order.fiat_amount} currency={order.fiat_currency} />
        </Fact>
        <Fact label="Crypto">
          <Money amount={order.crypto_amount} currency={crypto} />
        </Fact>
        <Fact label="Rate">{order.rate}</Fact>
        <Fact label="Platform’s fee">
          <Money amount={order.platform_fee} currency={crypto} />
        </Fact>
        <Fact label="Partner’s fee">
          <Money amount={order.partner_fee} currency={crypto} />
        </Fact>
      </Facts>
      <Facts title="Where it stands">
        <Fact label="Type">{order.order_type}</Fact>
        <Fact label="Waits for">
          {funds.waiting_for === null
            ? 'nothing'
            : `${funds.waiting_for.actor}: ${words(funds.waiting_for.fact).toLowerCase()}`}
        </Fact>
        <Fact label="Time runs out">
          <Time at={order.deadline_at} />
        </Fact>
        <Fact label="Chain">{order.chain}</Fact>
        <Fact label="Transaction">
          <Id value={order.tx_hash} name="transaction" />
        </Fact>
        <Fact label="Send-out">
          <Id value={order.send_out_tx_hash} name="send-out transaction" />
        </Fact>
        <Fact label="Quote">
          <Id value={order.quote_id} name="quote id" />
        </Fact>
        <Fact label="Created">
          <Time at={order.created_at} />
        </Fact>
        <Fact label="Changed">
          <Time at={order.updated_at} />
        </Fact>
      </Facts>
    </SimpleGrid>
  );
}
