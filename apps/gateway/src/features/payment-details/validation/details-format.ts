import type { BeneficiaryType, FieldProblem, FieldShape, RailShape } from './rail-shape.types.ts';

export interface ChosenFormat {
  readonly formatId: string | null;
  readonly fields: readonly FieldShape[];
}

/**
 * C4.1 rules 5 and 6: the format that lists the institution's type and pays the beneficiary's type. A rail
 * with one candidate needs no institution to choose it, as on the Chinese wallets.
 */
export function chooseFormat(
  rail: RailShape,
  institutionType: string | undefined,
  beneficiaryType: BeneficiaryType,
): ChosenFormat | FieldProblem {
  if (rail.formats === undefined) return { formatId: null, fields: rail.fields ?? [] };
  const payable = rail.formats.filter(
    (format) =>
      (format.beneficiaryType ?? beneficiaryType) === beneficiaryType &&
      // A consumer-to-consumer wallet pays persons, whatever it leaves unsaid.
      !(format.senderIdentity !== undefined && beneficiaryType === 'business'),
  );
  if (payable.length === 0) {
    return {
      path: 'details.beneficiary_type',
      message: `${beneficiaryType} beneficiaries are not paid over this rail`,
    };
  }
  const candidates =
    institutionType === undefined
      ? payable
      : payable.filter((format) => format.institutionTypes.includes(institutionType));
  const [chosen, ...others] = candidates;
  if (chosen === undefined) {
    return { path: 'institution_id', message: 'is of a type this rail does not pay to' };
  }
  if (institutionType === undefined && others.length > 0) {
    return { path: 'institution_id', message: 'is needed to know which fields apply' };
  }
  return { formatId: chosen.id, fields: chosen.fields };
}

export function isProblem(choice: ChosenFormat | FieldProblem): choice is FieldProblem {
  return 'path' in choice;
}
