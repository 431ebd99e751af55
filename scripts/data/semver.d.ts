/** The part of semver 7 that the check of advisories uses; the package ships no types. */
declare module 'semver' {
  export function satisfies(
    version: string,
    range: string,
    options?: { readonly includePrerelease?: boolean },
  ): boolean;
  export function validRange(range: string): string | null;
}
