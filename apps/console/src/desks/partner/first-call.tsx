import { Anchor, Card, Stack, Text } from '@mantine/core';
import { useSession } from '../../api/session.ts';
import { CodeBlock } from '../../ui/code.tsx';
import { Link } from '../../ui/navigation.tsx';

/** For a partner without an order: the first call, and where the way on is. */
export default function FirstCall() {
  const { environment } = useSession();
  return (
    <Card withBorder data-testid="first-call">
      <Stack gap="xs">
        <Text fw={600}>No order yet</Text>
        <Text size="sm">
          Begin with a customer. The answer has its <code>id</code>, which every quote names.
        </Text>
        <CodeBlock
          label="curl"
          code={[
            `curl ${location.origin}/api/v1/partner/users \\`,
            `  -H "X-API-Key: $CAUSEWAY_API_KEY" -H "Content-Type: application/json" \\`,
            `  -d '{"email":"ada@example.com","first_name":"Ada","last_name":"Lovelace"}'`,
          ].join('\n')}
        />
        <Text size="sm">
          {environment === 'sandbox' ? (
            <>
              Or{' '}
              <Anchor component={Link} to="/partner/sandbox" underline="always">
                open a test order
              </Anchor>{' '}
              with a click.{' '}
            </>
          ) : null}
          The whole way is in the{' '}
          <Anchor href="/docs/guides/orders" underline="always" target="_blank" rel="noreferrer">
            guide to orders
          </Anchor>
          ; your keys are under{' '}
          <Anchor component={Link} to="/partner/keys" underline="always">
            API keys
          </Anchor>
          .
        </Text>
      </Stack>
    </Card>
  );
}
