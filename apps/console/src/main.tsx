import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import './styles.css';
import { ConsoleProblem, whenForbidden, whenSignedOut } from './api/client.ts';
import { SESSION_KEY } from './api/session.ts';
import { App } from './app.tsx';
import { cssVariables, theme } from './theme.ts';

/** The page’s policy takes styles with its nonce only; libraries that add some are told it. */
const nonce = document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce ?? '';
setNonce(nonce);

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      networkMode: 'always',
      // Not by itself in this mode.
      refetchOnReconnect: true,
      staleTime: 5_000,
      // The SDK repeats by itself what is worth repeating.
      retry: (count, error) =>
        error instanceof ConsoleProblem && error.code === 'CONNECTION_FAILED' && count < 2,
    },
    // Without a network it fails at once: a decision that waits unseen would be carried out whenever there is one again.
    mutations: { networkMode: 'always' },
  },
});

// The pages of a desk lead to the sign-in as soon as nobody is signed in.
whenSignedOut(() => {
  queries.setQueryData(SESSION_KEY, null);
});

// Buttons go by the role: where it has changed they are drawn anew.
whenForbidden(() => {
  void queries.invalidateQueries({ queryKey: SESSION_KEY });
});

const root = document.getElementById('console');
if (root === null) throw new Error('The page has no place for the console.');
createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queries}>
        <App />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
