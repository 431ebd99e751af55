import { Notifications } from '@mantine/notifications';
import { type ComponentType, type LazyExoticComponent, lazy, Suspense, useEffect, useRef } from 'react';
import { Redirect, Route, Router, Switch } from 'wouter';
import SignIn from './account/sign-in.tsx';
import { useSessionQuery } from './api/session.ts';
import { OPERATOR } from './desks/operator/pages.ts';
import type { DeskPages } from './desks/pages.ts';
import { PARTNER } from './desks/partner/pages.ts';
import { VENDOR } from './desks/vendor/pages.ts';
import { Boundary } from './shell/boundary.tsx';
import { usePath, useSearch } from './ui/navigation.tsx';
import { stringifySearch } from './ui/search.ts';
import { Empty, Loaded, Loading } from './ui/states.tsx';

const Shell = lazy(() => import('./shell/shell.tsx'));
const Invitation = lazy(() => import('./account/invitation.tsx'));

/** Every page is loaded when it is first opened. */
const DESKS = [PARTNER, OPERATOR, VENDOR].map((desk) => ({
  ...desk,
  pages: [
    ...desk.pages,
    { path: 'account', title: 'Your account', load: () => import('./account/account.tsx') },
  ].map((page) => ({ ...page, component: lazy(page.load) })),
}));

export function App() {
  return (
    <Router base="/console">
      {/* Inside the router: what is told may lead somewhere. */}
      <Notifications position="bottom-right" />
      <Suspense fallback={<Loading />}>
        <Switch>
          <Route path="/sign-in" component={SignIn} />
          <Route path="/invitation" component={Invitation} />
          <Route component={Desk} />
        </Switch>
      </Suspense>
    </Router>
  );
}

/** A desk’s pages are shown to its own users only; the server holds to that, whatever is shown here. */
function Desk() {
  const query = useSessionQuery();
  const path = usePath();
  const search = useSearch();
  const wasSignedIn = useRef(false);
  if (query.data) wasSignedIn.current = true;
  return (
    <Loaded query={query} isQuiet>
      {(session) => {
        const desk = DESKS.find((one) => one.desk === session?.desk);
        if (session === null || desk === undefined) {
          const next = path === '/' ? undefined : path + stringifySearch(search);
          const over = wasSignedIn.current ? '1' : undefined;
          return <Redirect to={`/sign-in${stringifySearch({ over, next })}`} replace />;
        }
        const account = `/${desk.desk}/account`;
        if (session.must_add_second_factor && path !== account) return <Redirect to={account} replace />;
        return (
          <Shell desk={desk}>
            <Suspense fallback={<Loading />}>
              <Pages desk={desk} />
            </Suspense>
          </Shell>
        );
      }}
    </Loaded>
  );
}

interface LoadedDesk extends DeskPages {
  readonly pages: readonly (DeskPages['pages'][number] & {
    readonly component: LazyExoticComponent<ComponentType>;
  })[];
}

function Pages({ desk }: { readonly desk: LoadedDesk }) {
  const root = `/${desk.desk}`;
  const first = `${root}/${desk.pages[0]?.path ?? ''}`;
  return (
    <Switch>
      {desk.pages.map(({ path, title, component: Page }) => (
        <Route key={path} path={`${root}/${path.replaceAll('$', ':')}`}>
          <Titled title={title} />
          <Boundary key={path}>
            <Page />
          </Boundary>
        </Route>
      ))}
      <Route path="/">
        <Redirect to={first} replace />
      </Route>
      <Route path={root}>
        <Redirect to={first} replace />
      </Route>
      <Route>
        <Empty title="There is no such page" />
      </Route>
    </Switch>
  );
}

function Titled({ title }: { readonly title: string }) {
  useEffect(() => {
    document.title = `${title} · Causeway`;
  }, [title]);
  return null;
}
