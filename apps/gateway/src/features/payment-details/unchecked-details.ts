import { invalidFields } from '../../http/errors.ts';
import type { CheckedDetails, DetailsRequest } from './details-check.port.ts';

const MAX_KEY_LENGTH = 40;
const MAX_VALUE_LENGTH = 255;
const SLUG = /^[a-z0-9]+(?:[_-][a-z0-9]+)*$/;

/**
 * Details nobody could check, kept because the contract says so. They are bounded and text all the same, and whoever
 * pays by them later checks them again.
 */
export function uncheckedDetails(request: DetailsRequest): CheckedDetails {
  const details: Record<string, string> = {};
  const problems: { path: string; message: string }[] = [];
  if (!SLUG.test(request.rail)) problems.push({ path: 'rail', message: 'is not a supported rail' });
  if (request.institutionId !== undefined && !SLUG.test(request.institutionId)) {
    problems.push({ path: 'institution_id', message: 'is not an institution' });
  }
  for (const [key, value] of Object.entries(request.details)) {
    if (key.length > MAX_KEY_LENGTH || !/^[a-z][a-z0-9_]*$/.test(key)) continue;
    if (typeof value !== 'string') problems.push({ path: `details.${key}`, message: 'must be a string' });
    else if (value.length > MAX_VALUE_LENGTH || !value.isWellFormed()) {
      problems.push({ path: `details.${key}`, message: 'is not acceptable text' });
    } else if (value.trim() !== '') details[key] = value.trim();
  }
  if (problems.length > 0) throw invalidFields(problems);
  return {
    rail: request.rail,
    currency: request.currency.toUpperCase(),
    countryCode: request.countryCode.toUpperCase(),
    institutionId: request.institutionId ?? null,
    formatId: null,
    beneficiaryType: details.beneficiary_type === 'business' ? 'business' : 'individual',
    details,
  };
}
