import type { Desk } from '@causeway/protocol/console';
import { Box, Text, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { consoleCall, problemOf } from '../api/client.ts';
import { useGo } from '../ui/navigation.tsx';
import { type Found, placeOf, searchText } from './search-places.ts';
import { Results } from './search-results.tsx';

type State = { readonly found: readonly Found[] } | { readonly problem: string } | null;

/** Takes any id, hash, address, e-mail or reference. One match leads straight there; several are listed. */
export function SearchField({ desk }: { readonly desk: Desk }) {
  const [text, setText] = useState('');
  const [state, setState] = useState<State>(null);
  const [isBusy, setBusy] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const go = useGo();
  useSlash(field);

  const close = () => setState(null);
  const search = async () => {
    const q = searchText(text);
    if (q === '' || isBusy) return;
    setBusy(true);
    try {
      const { results } = await consoleCall<{ readonly results: readonly Found[] }>('searchConsole', {
        query: { q },
      });
      const [only] = results;
      const place = results.length === 1 && only !== undefined ? placeOf(desk, only) : undefined;
      if (place === undefined) setState({ found: results });
      else {
        close();
        setText('');
        go(place);
      }
    } catch (error) {
      setState({ problem: problemOf(error).message });
    } finally {
      setBusy(false);
    }
  };

  return (
    <Box
      pos="relative"
      flex={{ base: '0 1 160px', sm: '0 1 260px' }}
      miw={0}
      onBlur={({ relatedTarget, currentTarget }) =>
        currentTarget.contains(relatedTarget) ? undefined : close()
      }
      onKeyDown={({ key }) => (key === 'Escape' ? close() : undefined)}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void search();
        }}
      >
        <TextInput
          ref={field}
          size="sm"
          placeholder="Any id, hash or reference"
          aria-label="Search by any id"
          aria-keyshortcuts="/"
          leftSection={<IconSearch size={16} aria-hidden />}
          rightSection={
            <Text size="xs" c="dimmed" visibleFrom="sm" aria-hidden>
              /
            </Text>
          }
          value={text}
          onChange={({ currentTarget }) => {
            setText(currentTarget.value);
            close();
          }}
          data-testid="search"
          data-busy={isBusy}
        />
      </form>
      {state === null ? null : (
        <Box
          // Where the field is narrow and not at the edge, it takes the width of the window.
          pos={{ base: 'fixed', sm: 'absolute' }}
          left={{ base: 8, sm: 'auto' }}
          right={{ base: 8, sm: 0 }}
          top={{ base: 62, sm: 'calc(100% + 6px)' }}
          w={{ base: 'auto', sm: 360 }}
          p="sm"
          tabIndex={-1}
          bg="var(--mantine-color-body)"
          bd="1px solid var(--mantine-color-default-border)"
          style={{
            borderRadius: 8,
            boxShadow: 'var(--mantine-shadow-md)',
            zIndex: 300,
            maxHeight: '70vh',
            overflow: 'auto',
          }}
          data-testid="search-results"
        >
          {'problem' in state ? (
            <Text size="sm" role="alert">
              {state.problem}
            </Text>
          ) : (
            <Results desk={desk} found={state.found} onChosen={close} />
          )}
        </Box>
      )}
    </Box>
  );
}

/** The slash is dead while somebody types. */
function useSlash(field: React.RefObject<HTMLInputElement | null>): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement | null;
      const types = target?.closest('input, textarea, select, [contenteditable="true"]') != null;
      if (event.key !== '/' || types || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      field.current?.focus();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [field]);
}
