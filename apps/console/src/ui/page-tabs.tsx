import { Tabs } from '@mantine/core';
import type { ReactNode } from 'react';
import { useGo, usePath, useSearch } from './navigation.tsx';

interface TabDefinition {
  readonly value: string;
  readonly title: string;
  readonly content: () => ReactNode;
}

/** Tabs whose choice is in the address; each begins with filters of its own. */
export function PageTabs({ tabs }: { readonly tabs: readonly TabDefinition[] }) {
  const path = usePath();
  const go = useGo();
  const search = useSearch();
  const chosen = tabs.find(({ value }) => value === search.tab) ?? tabs[0];
  if (chosen === undefined) return null;
  return (
    <Tabs
      value={chosen.value}
      onChange={(tab) => go(path, { search: { tab: tab ?? undefined }, replace: true })}
      keepMounted={false}
    >
      <Tabs.List mb="md">
        {tabs.map(({ value, title }) => (
          <Tabs.Tab key={value} value={value} data-testid={`tab-${value}`}>
            {title}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value={chosen.value}>{chosen.content()}</Tabs.Panel>
    </Tabs>
  );
}
