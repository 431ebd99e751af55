import { Alert, Button, Code, Group, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Id } from '../ui/values.tsx';
import { type Connection, connectWallet, forgetWallet, switchChain, useWallets } from './wallet.ts';

/**
 * Asks for a wallet until the right one is connected on the right network; then what it is needed for. Nothing is asked of a
 * wallet before that.
 */
export function WalletGate({
  address,
  chainId,
  networkName,
  children,
}: {
  /** The account that has to sign. */
  readonly address: string;
  readonly chainId: number;
  readonly networkName: string;
  readonly children: (connection: Connection) => ReactNode;
}) {
  const { wallets, connection } = useWallets();
  const connect = useMutation({ mutationFn: connectWallet });
  const move = useMutation({ mutationFn: (given: Connection) => switchChain(given, chainId) });
  if (connection === null) {
    return (
      <Stack gap="xs" data-testid="wallet-picker">
        <Text size="sm">Connect the wallet that signs for you:</Text>
        <Id value={address} whole name="wallet address" />
        {wallets.length === 0 ? (
          <Alert color="yellow" data-testid="no-wallet">
            This browser has no wallet. Install one as an extension, or open this page in the browser of your
            wallet.
          </Alert>
        ) : (
          <Group gap="xs">
            {wallets.map((wallet) => (
              <Button
                key={wallet.uuid}
                variant="default"
                leftSection={<img src={wallet.icon} alt="" width={18} height={18} />}
                loading={connect.isPending && connect.variables?.uuid === wallet.uuid}
                onClick={() => connect.mutate(wallet)}
                data-testid="connect-wallet"
                data-rdns={wallet.rdns}
              >
                {wallet.name}
              </Button>
            ))}
          </Group>
        )}
        <WalletFailure error={connect.error} />
      </Stack>
    );
  }
  if (connection.address.toLowerCase() !== address.toLowerCase()) {
    return (
      <Alert color="orange" title="Another account is connected" data-testid="wrong-account">
        <Stack gap="xs" align="flex-start">
          <Text size="sm">
            {connection.wallet.name} gives <Code>{connection.address}</Code>. Change to <Code>{address}</Code>{' '}
            in the wallet: only it can sign this.
          </Text>
          <Button size="xs" variant="default" onClick={forgetWallet}>
            Choose another wallet
          </Button>
        </Stack>
      </Alert>
    );
  }
  if (connection.chainId !== chainId) {
    return (
      <Stack gap="xs" align="flex-start">
        <Text size="sm">The wallet is on another network.</Text>
        <Button
          loading={move.isPending}
          onClick={() => move.mutate(connection)}
          data-testid="switch-network"
          size="xs"
        >
          Change to {networkName}
        </Button>
        <WalletFailure error={move.error} />
      </Stack>
    );
  }
  return (
    <Stack gap="xs" data-testid="wallet-connected">
      {children(connection)}
      <Group gap="xs">
        <Text size="xs" c="dimmed">
          {connection.wallet.name}, connected
        </Text>
        <Button size="compact-xs" variant="subtle" onClick={forgetWallet}>
          Disconnect
        </Button>
      </Group>
    </Stack>
  );
}

export function WalletFailure({ error }: { readonly error: unknown }) {
  if (!(error instanceof Error)) return null;
  return (
    <Alert color="red" role="alert" data-testid="wallet-problem">
      {error.message}
    </Alert>
  );
}
