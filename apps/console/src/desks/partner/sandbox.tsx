import { Alert, Button, Group, Select, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { useMay, useSession } from '../../api/session.ts';
import { Action } from '../../ui/actions.tsx';
import { useGo } from '../../ui/navigation.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Empty, Loaded, PageHead, Problem } from '../../ui/states.tsx';
import { Fact, Id, Time } from '../../ui/values.tsx';
import { useSigningTrust } from '../../wallet/trust.ts';
import { openTestOrder, type TestOrder } from './test-order.ts';

/** The sandbox’s controls: test orders, the faucet, the clock, simulated parties. */
export default function PartnerSandbox() {
  const { environment } = useSession();
  const may = useMay();
  if (environment !== 'sandbox') {
    return (
      <>
        <PageHead title="Sandbox" />
        <Empty title="This is no sandbox">Money is real here, and time goes its own way.</Empty>
      </>
    );
  }
  return (
    <>
      <PageHead
        title="Sandbox"
        about="Play the parties that you do not have yet. Nothing here moves real money."
      />
      {may('sandboxFaucet') ? null : (
        <Alert mb="md" variant="light" color="orange" title="Your role may look, not drive the sandbox">
          Support, reviewers, finance and admins may; an admin of your team changes roles.
        </Alert>
      )}
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <OpenOrder />
        <Clock />
        <Faucet />
        <Kyc />
        <Conduct />
      </SimpleGrid>
    </>
  );
}

function OpenOrder() {
  const may = useMay();
  const go = useGo();
  const [wanted, setWanted] = useState<TestOrder>({ direction: 'onramp', amount: '100.00', reference: '' });
  const open = useMutation({
    mutationFn: () => openTestOrder(wanted),
    onSuccess: (orderId) => go(`/partner/orders/${orderId}`),
  });
  const mayOpen =
    may('createUser') && may('sandboxKycStatus') && may('createOnrampQuote') && may('initiateOnramp');
  return (
    <Panel
      testId="open-order"
      title="Open a test order"
      about="With a new customer who is verified already, for EUR by bank transfer."
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          open.mutate();
        }}
      >
        <Stack gap="xs">
          <Group gap="xs" role="group" aria-label="Direction">
            {(['onramp', 'offramp'] as const).map((direction) => (
              <Button
                key={direction}
                size="xs"
                variant={wanted.direction === direction ? 'filled' : 'default'}
                aria-pressed={wanted.direction === direction}
                onClick={() => setWanted({ ...wanted, direction })}
                data-testid={`direction-${direction}`}
              >
                {direction === 'onramp' ? 'On-ramp: buy USDC' : 'Off-ramp: sell USDC'}
              </Button>
            ))}
          </Group>
          <TextInput
            label="Amount in EUR"
            inputMode="decimal"
            pattern="[0-9]+([.][0-9]{1,2})?"
            required
            value={wanted.amount}
            onChange={({ currentTarget }) => setWanted({ ...wanted, amount: currentTarget.value })}
            data-testid="order-amount"
          />
          <TextInput
            label="Reference"
            description="Yours; may be left out"
            maxLength={255}
            value={wanted.reference}
            onChange={({ currentTarget }) => setWanted({ ...wanted, reference: currentTarget.value })}
            data-testid="order-reference"
          />
          {open.isError ? <Problem error={open.error} /> : null}
          <Group>
            <Button type="submit" loading={open.isPending} disabled={!mayOpen} data-testid="open-test-order">
              Open the order
            </Button>
            {mayOpen ? null : (
              <Text size="xs" c="dimmed">
                Your role may not open orders.
              </Text>
            )}
          </Group>
        </Stack>
      </form>
    </Panel>
  );
}

const STEPS = [
  ['15 minutes', 15 * 60],
  ['1 hour', 3_600],
  ['1 day', 86_400],
] as const;

function Clock() {
  const may = useMay();
  const query = useQuery({
    queryKey: ['sandbox-clock'],
    queryFn: ({ signal }) => api.sandbox.clock({ signal }),
    refetchInterval: 10_000,
  });
  return (
    <Panel
      testId="clock"
      title="Clock"
      about="Move time ahead to see what runs out. It moves for everybody here."
    >
      <Loaded query={query}>
        {({ now, offset_seconds: offset }) => (
          <>
            <dl>
              <Fact label="Time here">
                <Time at={now} />
              </Fact>
              <Fact label="Ahead of the machine">
                <span data-testid="clock-offset">{offset} s</span>
              </Fact>
            </dl>
            <Group gap="xs" mt="xs">
              {STEPS.map(([name, seconds]) => (
                <Action
                  key={name}
                  variant="light"
                  disabled={!may('sandboxAdvanceClock')}
                  run={() => api.sandbox.advanceClock({ seconds })}
                  done={`The clock is ${name} further`}
                  testId={`clock-${seconds}`}
                >
                  {`+ ${name}`}
                </Action>
              ))}
              <Action
                variant="default"
                disabled={!may('sandboxResetClock') || offset === 0}
                confirm="The clock goes back to the machine’s. What happened meanwhile stays as it is."
                run={() => api.sandbox.resetClock()}
                done="The clock is the machine’s again"
                testId="clock-reset"
              >
                Reset
              </Action>
            </Group>
          </>
        )}
      </Loaded>
    </Panel>
  );
}

function Faucet() {
  const may = useMay();
  const trust = useSigningTrust();
  const [chain, setChain] = useState<string | null>(null);
  const [token, setToken] = useState<string | null>('USDC');
  const [address, setAddress] = useState('');
  const [amount, setAmount] = useState('1000');
  const chains = trust.data?.chains ?? [];
  const chosen = chains.find(({ slug }) => slug === chain) ?? chains[0];
  const own = trust.data?.wallet_address ?? '';
  const send = useMutation({
    mutationFn: () =>
      api.sandbox.faucet({
        chain: chosen?.slug ?? '',
        token: token ?? 'native',
        address: address.trim() === '' ? own : address.trim(),
        amount,
      }),
  });
  return (
    <Panel testId="faucet" title="Faucet" about="Test tokens and gas for any wallet.">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          send.mutate();
        }}
      >
        <Stack gap="xs">
          <Group grow>
            <Select
              label="Chain"
              data={chains.map(({ slug, name }) => ({ value: slug, label: name }))}
              value={chosen?.slug ?? null}
              onChange={setChain}
              allowDeselect={false}
              data-testid="faucet-chain"
            />
            <Select
              label="Token"
              data={[...(chosen?.tokens.map(({ code }) => code) ?? []), 'native']}
              value={token}
              onChange={setToken}
              allowDeselect={false}
              data-testid="faucet-token"
            />
          </Group>
          <TextInput
            label="Wallet"
            placeholder={own}
            description="Your own where it is empty"
            value={address}
            onChange={({ currentTarget }) => setAddress(currentTarget.value)}
            data-testid="faucet-address"
          />
          <TextInput
            label="Amount"
            inputMode="decimal"
            required
            value={amount}
            onChange={({ currentTarget }) => setAmount(currentTarget.value)}
            data-testid="faucet-amount"
          />
          {send.isError ? <Problem error={send.error} /> : null}
          {send.data === undefined ? null : (
            <Text size="sm" data-testid="faucet-done">
              Sent: <Id value={send.data.transaction_hash} name="transaction hash" />
            </Text>
          )}
          <Group>
            <Button
              type="submit"
              loading={send.isPending}
              disabled={!may('sandboxFaucet') || chosen === undefined}
              data-testid="faucet-send"
            >
              Send
            </Button>
          </Group>
        </Stack>
      </form>
    </Panel>
  );
}

const KYC_STATUSES = ['VERIFIED', 'REJECTED', 'UNDER_REVIEW', 'PENDING_DOCUMENTS'] as const;

function Kyc() {
  const may = useMay();
  const [user, setUser] = useState('');
  const [status, setStatus] = useState<string | null>('VERIFIED');
  return (
    <Panel
      testId="simulated-kyc"
      title="KYC of a customer"
      about="Decide as the verification provider would, without documents."
    >
      <Stack gap="xs">
        <TextInput
          label="Customer id"
          value={user}
          onChange={({ currentTarget }) => setUser(currentTarget.value)}
          data-testid="kyc-user"
        />
        <Select
          label="Outcome"
          data={[...KYC_STATUSES]}
          value={status}
          onChange={setStatus}
          allowDeselect={false}
          data-testid="kyc-status"
        />
        <Group>
          <Action
            size="sm"
            disabled={!may('sandboxKycStatus') || user.trim() === ''}
            run={() =>
              api.sandbox.kycStatus(user.trim(), {
                status: (status ?? 'VERIFIED') as (typeof KYC_STATUSES)[number],
              })
            }
            done={`The customer is ${status}`}
            testId="kyc-set"
          >
            Set the outcome
          </Action>
        </Group>
      </Stack>
    </Panel>
  );
}

function Conduct() {
  const may = useMay();
  const change = useMutation({
    mutationFn: (auto_advance: boolean) => api.sandbox.setSettings({ auto_advance }),
  });
  return (
    <Panel
      testId="conduct"
      title="Simulated parties"
      about="They can act by themselves, within seconds, or wait for your clicks on the page of an order."
    >
      <Group gap="xs">
        <Action
          variant="light"
          disabled={!may('setSandboxSettings')}
          run={() => change.mutateAsync(true)}
          done="Vendors and reviewers act by themselves now"
          testId="auto-on"
        >
          Let them act
        </Action>
        <Action
          variant="default"
          disabled={!may('setSandboxSettings')}
          run={() => change.mutateAsync(false)}
          done="They wait for your clicks now"
          testId="auto-off"
        >
          Make them wait
        </Action>
      </Group>
    </Panel>
  );
}
