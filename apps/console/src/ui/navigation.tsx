import type { AnchorHTMLAttributes, Ref } from 'react';
import { Link as RouterLink, useLocation, useParams as useRouteParams } from 'wouter';
// The router’s own has undone one escape already, so that a filter with a percent sign would be read twice.
import { useSearch as useSearchText } from 'wouter/use-browser-location';
import { parseSearch, type Search, stringifySearch } from './search.ts';

/** Where one is and how one gets elsewhere. Addresses are below /console: `/partner/orders`. */
export function usePath(): string {
  return useLocation()[0];
}

export function useGo(): (
  to: string,
  options?: { readonly search?: Search; readonly replace?: boolean },
) => void {
  const [, navigate] = useLocation();
  return (to, { search = {}, replace = false } = {}) => navigate(to + stringifySearch(search), { replace });
}

export function useSearch(): Search {
  return parseSearch(useSearchText());
}

/** Of the page’s address; a name that it has not is empty. */
export function useParam(name: string): string {
  const found = useRouteParams()[name];
  return found === undefined ? '' : decodeURIComponent(found);
}

export interface LinkProps extends AnchorHTMLAttributes<HTMLAnchorElement> {
  readonly to: string;
  readonly ref?: Ref<HTMLAnchorElement>;
}

export function Link({ to, ...rest }: LinkProps) {
  return <RouterLink href={to} {...rest} />;
}
