import type { HotWallet } from '@causeway/sdk';
import { Alert, Box, Card, SimpleGrid, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { PartHead } from '../../ui/part-head.tsx';
import { Empty, Loaded, PageHead } from '../../ui/states.tsx';
import { Tone } from '../../ui/tone.tsx';
import { Fact, Id, Money, Time } from '../../ui/values.tsx';
import { Rows } from './order-sections.tsx';
import { duration } from './rates.tsx';

const REFETCH_MS = 15_000;

export default function OperatorWallets() {
  const query = useQuery({
    queryKey: ['operator', 'hot-wallets'],
    queryFn: ({ signal }) => api.operator.hotWallets.list({ signal }),
    refetchInterval: REFETCH_MS,
  });
  return (
    <>
      <PageHead
        title="Hot wallets"
        about="They pay for the transactions of orders. Customers’ money is in escrows and never passes through them."
      />
      <Loaded query={query}>
        {({ wallets }) =>
          wallets.length === 0 ? (
            <Empty title="No wallet pays here">Name one in HOT_WALLETS_FILE.</Empty>
          ) : (
            <SimpleGrid cols={{ base: 1, lg: 2 }}>
              {wallets.map((wallet) => (
                <WalletCard key={`${wallet.chain} ${wallet.address}`} wallet={wallet} />
              ))}
            </SimpleGrid>
          )
        }
      </Loaded>
    </>
  );
}

const COLORS: Readonly<Record<string, string>> = { ok: 'teal', low: 'red', unknown: 'orange' };
const TONE = { ok: 'good', low: 'bad', unknown: 'care' } as const;

function WalletCard({ wallet }: { readonly wallet: HotWallet }) {
  const behind = wallet.chain_nonce === null ? 0 : wallet.next_nonce - wallet.chain_nonce;
  return (
    <Card withBorder data-testid="hot-wallet" data-chain={wallet.chain} data-state={wallet.state}>
      <PartHead title={wallet.chain}>
        <Tone tone={TONE[wallet.state as keyof typeof TONE] ?? 'plain'}>{wallet.state}</Tone>
      </PartHead>
      <Alert color={COLORS[wallet.state] ?? 'gray'} variant="light" mb="xs">
        {wallet.says}
      </Alert>
      <Box component="dl" m={0}>
        <Fact label="Wallet">
          {wallet.explorer_url === null ? (
            <Id value={wallet.address} name="wallet" />
          ) : (
            <a href={wallet.explorer_url} target="_blank" rel="noreferrer">
              {wallet.address}
            </a>
          )}
        </Fact>
        <Fact label="Balance">
          <Money amount={wallet.balance} currency={wallet.currency} />
        </Fact>
        <Fact label="Reported when below">
          <Money amount={wallet.minimum_balance} currency={wallet.currency} />
        </Fact>
        <Fact label="Gas price">
          {wallet.gas_price_gwei === null ? '–' : `${wallet.gas_price_gwei} gwei`}
        </Fact>
        <Fact label="Gas of an order">
          {wallet.gas_per_order.gas}
          {wallet.gas_per_order.measured_orders === 0
            ? ', not measured yet'
            : `, measured on ${wallet.gas_per_order.measured_orders}`}
        </Fact>
        <Fact label="An order costs">
          <Money amount={wallet.gas_per_order.cost} currency={wallet.currency} />
        </Fact>
        <Fact label="Pays for">
          {wallet.orders_left === null ? '–' : `about ${wallet.orders_left} orders`}
        </Fact>
        {wallet.tokens.map(({ code, balance }) => (
          <Fact key={code} label={code}>
            <Money amount={balance} currency={code} />
          </Fact>
        ))}
        <Fact label="Next nonce">
          {wallet.next_nonce}
          {wallet.chain_nonce === null ? '' : `, the chain expects ${wallet.chain_nonce}`}
        </Fact>
        <Fact label="Read">
          {wallet.read_at === null ? (
            'never: no node has answered'
          ) : (
            <>
              <Time at={wallet.read_at} age /> {wallet.reachable ? '' : '(no node answers now)'}
            </>
          )}
        </Fact>
      </Box>
      <PartHead title="On their way" />
      {wallet.pending.length === 0 ? (
        <Text size="sm" c="dimmed">
          {behind > 0
            ? `${behind} nonces are missing on the chain: the worker fills them.`
            : 'No transaction is open.'}
        </Text>
      ) : (
        <Rows
          label={`Open transactions on ${wallet.chain}`}
          titles={['Nonce', 'Transaction', 'Versions', 'Age']}
          rows={wallet.pending.map((one) => ({
            key: String(one.nonce),
            cells: [
              one.nonce,
              <Id key="hash" value={one.tx_hash} name="transaction" />,
              one.versions,
              duration(one.age_seconds),
            ],
          }))}
        />
      )}
    </Card>
  );
}
