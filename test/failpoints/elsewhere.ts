/**
 * Failpoints that no run of this kind meets: the code is of a production deployment alone, or of a moment that the walks
 * do not make. Each says where it is tested instead. A listed one that is met after all fails the run, so that the list
 * only gets shorter.
 */
export interface Elsewhere {
  readonly sites: RegExp;
  readonly reason: string;
}

export const ELSEWHERE: readonly Elsewhere[] = [];

export function isElsewhere(failpoint: string): boolean {
  return ELSEWHERE.some(({ sites }) => sites.test(failpoint));
}
