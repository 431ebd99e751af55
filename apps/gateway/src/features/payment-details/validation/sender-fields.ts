export interface SenderFieldProblem {
  readonly field: string;
  readonly reason: 'missing' | 'too_long';
  /** The rail's ceiling, where the field has one. */
  readonly limit?: number;
}

export interface SenderCeilings {
  readonly requiredFields: readonly string[];
  /** Characters at most; a field that is not named has no published ceiling. */
  readonly fieldLimits: Readonly<Record<string, number>>;
}

/**
 * What a consumer-to-consumer wallet lacks to name the payer. A field over its ceiling counts as missing, and
 * characters are code points: an emoji or a rare Chinese character is one, however it is encoded.
 */
export function senderFieldProblems(
  fields: Readonly<Record<string, string | null | undefined>>,
  ceilings: SenderCeilings,
): SenderFieldProblem[] {
  return ceilings.requiredFields.flatMap((field): SenderFieldProblem[] => {
    const limit = Object.hasOwn(ceilings.fieldLimits, field) ? ceilings.fieldLimits[field] : undefined;
    const value = (Object.hasOwn(fields, field) ? fields[field] : undefined)?.trim() ?? '';
    const ceiling = limit === undefined ? {} : { limit };
    if (value === '') return [{ field, reason: 'missing', ...ceiling }];
    return limit !== undefined && countCodePoints(value) > limit
      ? [{ field, reason: 'too_long', limit }]
      : [];
  });
}

/** `details` of 422 SENDER_IDENTITY_REQUIRED; `field_limits` is absent when no listed field has a ceiling. */
export function senderIdentityDetails(
  problems: readonly SenderFieldProblem[],
  isSuppliable: (field: string) => boolean,
): {
  readonly missing_fields: string[];
  readonly kyc_fields: string[];
  readonly field_limits?: Record<string, number>;
} {
  const missing = problems.map(({ field }) => field);
  const limits = problems.flatMap(({ field, limit }): [string, number][] =>
    limit === undefined ? [] : [[field, limit]],
  );
  return {
    missing_fields: missing,
    kyc_fields: missing.filter(isSuppliable),
    ...(limits.length > 0 && { field_limits: Object.fromEntries(limits) }),
  };
}

export function countCodePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
