export type ScreeningStatus = 'clear' | 'review' | 'blocked';

/** Whom to look for. Names are personal data: an adapter neither logs nor keeps them. */
export interface ScreeningSubject {
  readonly kind: 'individual' | 'business';
  readonly name: string;
  readonly nativeName?: string | undefined;
}

export interface ScreeningHit {
  readonly entryId: string;
  /** The listed name that was met, from the public list. */
  readonly listedName: string;
  /** Likeness from 0 to 100. */
  readonly score: number;
}

export interface ScreeningResult {
  readonly status: ScreeningStatus;
  /** Best first; for the reviewer, never for a partner. */
  readonly hits: readonly ScreeningHit[];
  /** Which edition of the list was asked, so that a decision can be explained later. */
  readonly listVersion: string;
}

/** Asks whether a recipient may be on a sanctions list. A failure rejects, and the recipient stays pending. */
export interface ScreeningPort {
  screen(subject: ScreeningSubject): Promise<ScreeningResult>;
  /** The same, where the answer is in memory and nothing has to be waited for. */
  screenAtOnce?(subject: ScreeningSubject): ScreeningResult;
}

/** Carries neither the service's address nor what it answered. */
export class NameScreeningUnavailable extends Error {
  override readonly name = 'NameScreeningUnavailable';
}
