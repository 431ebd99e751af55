import { ORDER_MACHINES, type OrderDirection } from '@causeway/protocol/machines';
import type { Effect, OrderAuditTrail } from '@causeway/sdk';
import { Badge, Box, Card, Group, Stack, Table, Text, Timeline } from '@mantine/core';
import type { ReactNode } from 'react';
import { api } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { OrderMachine } from '../../order/machine.tsx';
import { Action } from '../../ui/actions.tsx';
import { PartHead } from '../../ui/part-head.tsx';
import { Empty } from '../../ui/states.tsx';
import { Fact, Id, Money, Status, Time } from '../../ui/values.tsx';

/** The parts of an order’s page behind its tabs. */

export function Rows({
  titles,
  rows,
  label,
}: {
  readonly titles: readonly string[];
  readonly rows: readonly { readonly key: string; readonly cells: readonly ReactNode[] }[];
  readonly label: string;
}) {
  return (
    <Table.ScrollContainer minWidth={560}>
      <Table verticalSpacing="xs" aria-label={label}>
        <Table.Thead>
          <Table.Tr>
            {titles.map((title) => (
              <Table.Th key={title} scope="col">
                {title}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(({ key, cells }) => (
            <Table.Tr key={key} data-row={key}>
              {cells.map((cell, index) => (
                <Table.Td key={titles[index]}>{cell}</Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

export function Escrow({
  trail: { funds, authorizations, signatures },
}: {
  readonly trail: OrderAuditTrail;
}) {
  const { escrow, deposits, movements } = funds;
  const currency = funds.crypto_currency;
  if (escrow === null) return <Empty title="There is no escrow yet">{funds.summary}</Empty>;
  return (
    <Stack gap="xs" data-testid="escrow">
      <Card withBorder>
        <Box component="dl" m={0}>
          <Fact label="Escrow">
            <Id value={escrow.address} whole name="escrow address" />
          </Fact>
          <Fact label="State">
            <Status value={escrow.state} />
          </Fact>
          <Fact label="Expected">
            <Money amount={escrow.expected_amount} currency={currency} />
          </Fact>
          <Fact label="In the books">
            <Money amount={escrow.booked_amount} currency={currency} />
          </Fact>
          <Fact label="On chain now">
            {escrow.balance_on_chain === null ? (
              'no node answers'
            ) : (
              <Money amount={escrow.balance_on_chain} currency={currency} />
            )}
          </Fact>
          <Fact label="Owners">
            {(['service', 'seller', 'buyer'] as const).map((owner) => (
              <Group key={owner} gap={6} justify="flex-end" wrap="nowrap">
                <Text span size="xs" c="dimmed">
                  {owner}
                  {signatures
                    .filter(({ signer }) => signer.toLowerCase() === escrow.owners[owner].toLowerCase())
                    .map(({ purpose }) => `, has signed the ${purpose}`)}
                </Text>
                <Id value={escrow.owners[owner]} name={`${owner}’s wallet`} />
              </Group>
            ))}
          </Fact>
        </Box>
      </Card>
      <PartHead title="Paid in" />
      {deposits.length === 0 ? (
        <Text size="sm" c="dimmed">
          Nothing has arrived that is final.
        </Text>
      ) : (
        <Rows
          label="Payments into the escrow"
          titles={['Seen', 'Kind', 'Amount', 'State', 'Transaction']}
          rows={deposits.map((one) => ({
            key: one.deposit_id,
            cells: [
              <Time key="at" at={one.observed_at} />,
              one.kind,
              <Money key="amount" amount={one.amount ?? one.amount_atomic} currency={one.token ?? 'units'} />,
              <Group key="status" gap={6} wrap="nowrap">
                <Status value={one.status} />
                <Text size="xs">{one.says}</Text>
              </Group>,
              <Id key="tx" value={one.tx_hash} name="transaction" />,
            ],
          }))}
        />
      )}
      <PartHead title="In the books" />
      {movements.length === 0 ? (
        <Text size="sm" c="dimmed">
          Nothing has been booked.
        </Text>
      ) : (
        movements.map(({ kind, at, postings }) => (
          <Card key={`${kind} ${at}`} withBorder p="xs">
            <Group justify="space-between">
              <Text size="sm" fw={600}>
                {kind.replaceAll('_', ' ')}
              </Text>
              <Time at={at} />
            </Group>
            <Box component="dl" m={0}>
              {postings.map(({ account, asset, amount }) => (
                <Fact key={`${account} ${asset} ${amount}`} label={account}>
                  <Money amount={amount} currency={asset} />
                </Fact>
              ))}
            </Box>
          </Card>
        ))
      )}
      {authorizations.length === 0 ? null : (
        <>
          <PartHead title="Authorizations" />
          <Rows
            label="Authorizations"
            titles={['For', 'State', 'Amount (units)', 'To', 'Good until']}
            rows={authorizations.map((one) => ({
              key: `${one.purpose} ${one.nonce}`,
              cells: [
                one.purpose,
                <Status key="status" value={one.status} />,
                one.amount_atomic,
                <Id key="to" value={one.recipient} name="recipient" />,
                <Time key="until" at={one.expires_at} />,
              ],
            }))}
          />
        </>
      )}
    </Stack>
  );
}

interface Row {
  readonly on: string;
  readonly by: readonly string[];
  readonly to: string;
  readonly noop?: boolean;
}

/** The way the order has come, where it is, and what the table lets happen next. */
export function Machine({ trail: { order, timeline, facts, proofs } }: { readonly trail: OrderAuditTrail }) {
  const machine = ORDER_MACHINES[order.direction as OrderDirection];
  const next = [...(machine.index.get(order.status as never)?.values() ?? [])]
    .flat()
    .map((row) => row as unknown as Row)
    .filter(({ noop, to }) => noop !== true && to !== order.status);
  const ways = [...new Map(next.map((row) => [`${row.on} ${row.to}`, row])).values()];
  return (
    <Stack>
      <OrderMachine
        direction={order.direction as OrderDirection}
        order={{ status: order.status, timeline: timeline.filter(({ decision }) => decision === undefined) }}
      />
      <Timeline active={timeline.length - 1} bulletSize={16} data-testid="timeline">
        {timeline.map(({ status, at, decision }, index) => (
          <Timeline.Item
            key={`${status} ${at} ${decision ?? ''}`}
            title={
              <Group gap="xs">
                <Text span fw={index === timeline.length - 1 ? 700 : 500} data-status={status}>
                  {decision === undefined ? status.replaceAll('_', ' ') : 'KYC waived by an operator'}
                </Text>
                {index === timeline.length - 1 ? <Badge tt="none">now</Badge> : null}
              </Group>
            }
          >
            <Text size="sm" c="dimmed" component="div">
              <Time at={at} />
            </Text>
          </Timeline.Item>
        ))}
      </Timeline>
      <PartHead title="What can happen next" />
      {ways.length === 0 ? (
        <Text size="sm" c="dimmed">
          Nothing: this is an end.
        </Text>
      ) : (
        <Rows
          label="What can happen next"
          titles={['What', 'By', 'Then it is']}
          rows={ways.map(({ on, by, to }) => ({
            key: `${on} ${to}`,
            cells: [on.replaceAll('_', ' '), by.join(', '), <Status key="to" value={to} />],
          }))}
        />
      )}
      {proofs.length === 0 ? null : (
        <>
          <PartHead title="Proofs of payment" />
          <Rows
            label="Proofs of payment"
            titles={['Handed in', 'Verdict', 'Reviewed']}
            rows={proofs.map((proof) => ({
              key: proof.proof_id,
              cells: [
                <Time key="at" at={proof.submitted_at} />,
                <Status key="verdict" value={proof.verdict ?? 'waits for review'} />,
                <Time key="reviewed" at={proof.reviewed_at} />,
              ],
            }))}
          />
        </>
      )}
      <PartHead title="Facts beside the status" />
      <Card withBorder>
        <Box component="dl" m={0}>
          {Object.entries(facts).map(([name, value]) => (
            <Fact key={name} label={name.replaceAll(/([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`)}>
              {String(value)}
            </Fact>
          ))}
        </Box>
      </Card>
    </Stack>
  );
}

/** Retry and give up, where the service says that they help. */
export function EffectRemedies({ effect }: { readonly effect: Effect }) {
  const may = useMay();
  return (
    <Group gap={4} wrap="nowrap">
      {effect.remedies.includes('retry') ? (
        <Action
          size="compact-xs"
          variant="light"
          reason
          confirm="What is under way is checked first and never done twice."
          done="It is tried again"
          disabled={!may('retryEffect')}
          run={(reason) => api.operator.effects.retry(effect.effect_id, { reason })}
          testId="retry-effect"
        >
          Try again
        </Action>
      ) : null}
      {effect.remedies.includes('give-up') ? (
        <Action
          size="compact-xs"
          variant="light"
          color="red"
          reason
          confirm="Only where it certainly has not happened and no longer can. Its order is told, and held where crypto is at stake."
          done="It is given up"
          disabled={!may('giveUpEffect')}
          run={(reason) => api.operator.effects.giveUp(effect.effect_id, { reason })}
          testId="give-up-effect"
        >
          Give up
        </Action>
      ) : null}
    </Group>
  );
}

export function Effects({ trail: { effects, transactions } }: { readonly trail: OrderAuditTrail }) {
  if (effects.length === 0) return <Empty title="Nothing has left the service for this order yet" />;
  return (
    <Stack gap="xs">
      <Rows
        label="Effects"
        titles={['What', 'State', 'Attempts', 'Last error', 'Begun', '']}
        rows={effects.map((effect) => ({
          key: effect.effect_id,
          cells: [
            <Stack key="what" gap={0}>
              <Text size="sm" fw={500}>
                {effect.kind}
              </Text>
              <Text size="xs" c="dimmed">
                {effect.meaning}
              </Text>
            </Stack>,
            <Status key="status" value={effect.late ? 'late' : effect.status} />,
            effect.attempts,
            effect.last_error ?? '–',
            <Time key="at" at={effect.created_at} />,
            <EffectRemedies key="remedies" effect={effect} />,
          ],
        }))}
      />
      <PartHead title="Transactions" />
      {transactions.length === 0 ? (
        <Text size="sm" c="dimmed">
          None was sent.
        </Text>
      ) : (
        <Rows
          label="Transactions"
          titles={['For', 'State', 'Hash', 'Nonce', 'Versions', 'Sent', 'Final']}
          rows={transactions.map((one) => ({
            key: `${one.chain_id} ${one.sender} ${one.nonce}`,
            cells: [
              one.effect,
              <Status key="status" value={one.status} />,
              <Id key="hash" value={one.tx_hash} name="transaction" />,
              one.nonce,
              one.versions,
              <Time key="at" at={one.created_at} />,
              <Time key="settled" at={one.settled_at} />,
            ],
          }))}
        />
      )}
    </Stack>
  );
}

export function Webhooks({ trail: { webhooks } }: { readonly trail: OrderAuditTrail }) {
  if (webhooks.length === 0) return <Empty title="No webhook has been sent" />;
  return (
    <Rows
      label="Webhooks"
      titles={['When', 'Event', 'Status told', 'Deliveries']}
      rows={webhooks.map((event) => ({
        key: event.event_id,
        cells: [
          <Time key="at" at={event.created_at} />,
          event.event_type,
          <Status key="status" value={event.status} />,
          event.deliveries.length === 0 ? (
            'to nobody'
          ) : (
            <Group key="deliveries" gap={6}>
              {event.deliveries.map((delivery) => (
                <Group key={delivery.id} gap={4} wrap="nowrap">
                  <Status value={delivery.status} />
                  <Text size="xs">
                    {delivery.attempts} tries
                    {delivery.http_status === null ? '' : `, last ${delivery.http_status}`}
                  </Text>
                </Group>
              ))}
            </Group>
          ),
        ],
      }))}
    />
  );
}
