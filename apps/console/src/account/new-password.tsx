import { List, PasswordInput, Stack } from '@mantine/core';
import { IconCheck, IconCircle } from '@tabler/icons-react';

const SHORTEST = 12;

interface Rule {
  readonly text: string;
  /** Undefined where only the service can tell. */
  readonly isKept: boolean | undefined;
}

export function passwordRules(password: string, email: string): readonly Rule[] {
  const [name = ''] = email.toLowerCase().split('@');
  return [
    { text: `At least ${SHORTEST} characters; a sentence is fine`, isKept: password.length >= SHORTEST },
    {
      text: 'Not your e-mail address',
      isKept: password !== '' && ![email.toLowerCase(), name].includes(password.toLowerCase()),
    },
    { text: 'Not one of the passwords that everybody tries first', isKept: undefined },
  ];
}

export const fitsRules = (password: string, email: string): boolean =>
  passwordRules(password, email).every(({ isKept }) => isKept !== false);

/** The rules are told before the first key is pressed, and ticked off as they are kept. */
export function NewPassword({
  email,
  value,
  onChange,
  label = 'Password',
}: {
  readonly email: string;
  readonly value: string;
  readonly onChange: (password: string) => void;
  readonly label?: string;
}) {
  return (
    <Stack gap={6}>
      <PasswordInput
        label={label}
        autoComplete="new-password"
        required
        maxLength={200}
        value={value}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
        aria-describedby="password-rules"
        data-testid="new-password"
      />
      <List size="sm" spacing={2} id="password-rules" listStyleType="none" data-testid="password-rules">
        {passwordRules(value, email).map(({ text, isKept }) => (
          <List.Item
            key={text}
            c={isKept ? 'light-dark(var(--mantine-color-teal-9), var(--mantine-color-teal-3))' : 'dimmed'}
            icon={isKept ? <IconCheck size={14} aria-label="kept" /> : <IconCircle size={14} aria-hidden />}
            data-kept={isKept === true}
          >
            {text}
          </List.Item>
        ))}
      </List>
    </Stack>
  );
}
