import { can } from '@causeway/protocol/console';
import {
  ActionIcon,
  AppShell,
  Badge,
  Box,
  Burger,
  Group,
  NavLink,
  Paper,
  Text,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconLogout, IconMoon, IconSun, IconUserCircle } from '@tabler/icons-react';
import { Fragment, type ReactNode } from 'react';
import { consoleCall } from '../api/client.ts';
import { useForgetSession, useSession } from '../api/session.ts';
import type { DeskPages, Page } from '../desks/pages.ts';
import { Link, useGo, usePath } from '../ui/navigation.tsx';
import { SearchField } from './search-field.tsx';

/** What stands around every page of a desk: where one is, the menu, the field that takes any id, and who is signed in. */
export default function Shell({
  desk,
  children,
}: {
  readonly desk: DeskPages;
  readonly children: ReactNode;
}) {
  const [isOpen, { toggle, close }] = useDisclosure(false);
  const session = useSession();
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 224, breakpoint: 'md', collapsed: { mobile: !isOpen } }}
      padding="lg"
    >
      <AppShell.Header px="md">
        <Group h="100%" justify="space-between" wrap="nowrap" gap="sm">
          <Group gap="sm" wrap="nowrap" flex="none">
            <Burger opened={isOpen} onClick={toggle} hiddenFrom="md" size="sm" aria-label="Menu" />
            {/* On a phone the place is for what can be pressed, and for which environment it is. */}
            <Text fw={700} visibleFrom="xs">
              Causeway
            </Text>
            <Text size="sm" c="dimmed" visibleFrom="sm" data-testid="desk" data-desk={desk.desk}>
              {session.owner?.name ?? desk.title}
            </Text>
            <Environment name={session.environment} />
          </Group>
          <Group gap="xs" wrap="nowrap" justify="flex-end" flex={1} miw={0}>
            <SearchField desk={desk.desk} />
            <ThemeSwitch />
            <UserMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm">
        <DeskMenu desk={desk} onChosen={close} />
      </AppShell.Navbar>
      <AppShell.Main>{children}</AppShell.Main>
    </AppShell>
  );
}

/** Where one is, not how something stands: an outline with corners, in no colour that a state has. */
function Environment({ name }: { readonly name: 'sandbox' | 'production' }) {
  return (
    <Badge
      variant="outline"
      radius="sm"
      color={name === 'sandbox' ? 'grape' : 'indigo'}
      miw="max-content"
      data-testid="environment"
    >
      {name}
    </Badge>
  );
}

function DeskMenu({ desk, onChosen }: { readonly desk: DeskPages; readonly onChosen: () => void }) {
  const { user, environment } = useSession();
  const path = usePath();
  const shown = desk.pages.filter(
    (page): page is Page & { menu: NonNullable<Page['menu']> } =>
      page.menu !== undefined &&
      (page.needs === undefined || can(user.role, page.needs)) &&
      (page.sandbox === undefined || environment === 'sandbox'),
  );
  const sections = [...new Set(shown.map(({ menu }) => menu.section))];
  return (
    <Box component="nav" aria-label="Pages" style={{ overflowY: 'auto' }}>
      {sections.map((section) => (
        <Fragment key={section}>
          <Text size="xs" c="dimmed" fw={600} px="xs" mt="sm" mb={4}>
            {section}
          </Text>
          {shown
            .filter(({ menu }) => menu.section === section)
            .map(({ path: page, title, menu: { icon: Icon } }) => (
              <NavLink
                key={page}
                component={Link}
                to={`/${desk.desk}/${page}`}
                label={title}
                leftSection={<Icon size={18} stroke={1.6} aria-hidden />}
                active={path.startsWith(`/${desk.desk}/${page}`)}
                onClick={onChosen}
                data-testid={`menu-${page}`}
              />
            ))}
        </Fragment>
      ))}
    </Box>
  );
}

function ThemeSwitch() {
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme('light');
  const next = scheme === 'dark' ? 'light' : 'dark';
  return (
    <ActionIcon
      variant="default"
      size="lg"
      onClick={() => setColorScheme(next)}
      title={`Show it ${next}`}
      aria-label={`Show it ${next}`}
      data-testid="theme"
    >
      {scheme === 'dark' ? <IconSun size={18} /> : <IconMoon size={18} />}
    </ActionIcon>
  );
}

function UserMenu() {
  const [isOpen, { toggle, close }] = useDisclosure(false);
  const { user, desk } = useSession();
  const forget = useForgetSession();
  const go = useGo();
  const signOut = async () => {
    await consoleCall('signOutOfConsole').catch(() => undefined);
    await forget();
    go('/sign-in');
  };
  return (
    <Box
      pos="relative"
      onKeyDown={({ key }) => {
        if (key === 'Escape') close();
      }}
      onBlur={({ currentTarget, relatedTarget }) => {
        // A click within takes the focus too; only what leaves the menu closes it.
        if (relatedTarget instanceof Node && !currentTarget.contains(relatedTarget)) close();
      }}
    >
      <ActionIcon
        variant="default"
        size="lg"
        onClick={toggle}
        aria-label="Your account"
        aria-expanded={isOpen}
        data-testid="user-menu"
      >
        <IconUserCircle size={20} />
      </ActionIcon>
      {isOpen ? (
        <Paper withBorder shadow="md" p="xs" pos="absolute" right={0} top="calc(100% + 4px)" w={220}>
          <Text size="xs" c="dimmed" px="xs" pb={4}>
            {user.name}, {user.role}
          </Text>
          <NavLink
            component={Link}
            to={`/${desk}/account`}
            label="Your account"
            leftSection={<IconUserCircle size={16} aria-hidden />}
            onClick={close}
            data-testid="menu-account"
          />
          <NavLink
            component="button"
            label="Sign out"
            leftSection={<IconLogout size={16} aria-hidden />}
            onClick={() => void signOut()}
            data-testid="sign-out"
          />
        </Paper>
      ) : null}
    </Box>
  );
}
