import {
  type CSSVariablesResolver,
  createTheme,
  defaultVariantColorsResolver,
  parseThemeColor,
} from '@mantine/core';

/** Quiet text and tinted parts are told apart by everybody: 4.5 to 1 in both schemes, which the library’s own miss. */
export const theme = createTheme({
  primaryColor: 'indigo',
  primaryShade: { light: 7, dark: 7 },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  // Of dialogs, notifications and fields that can be cleared: the library gives it no name.
  components: {
    CloseButton: { defaultProps: { 'aria-label': 'Close' } },
    // A table that is wider than its place is scrolled by keys too.
    TableScrollContainer: {
      defaultProps: {
        scrollAreaProps: { viewportProps: { tabIndex: 0, role: 'region', 'aria-label': 'Table' } },
      },
    },
    SegmentedControl: { defaultProps: { transitionDuration: 0 } },
  },
  variantColorResolver: (input) => {
    const { color, isThemeColor } = parseThemeColor({
      color: input.color ?? input.theme.primaryColor,
      theme: input.theme,
    });
    const standard = defaultVariantColorsResolver(input);
    if (!isThemeColor || (input.variant !== 'light' && input.variant !== 'subtle')) return standard;
    const text = `light-dark(color-mix(in srgb, var(--mantine-color-${color}-9) 65%, black), var(--mantine-color-${color}-2))`;
    if (input.variant === 'subtle') return { ...standard, color: text };
    return {
      ...standard,
      color: text,
      background: `light-dark(var(--mantine-color-${color}-1), color-mix(in srgb, var(--mantine-color-${color}-9) 40%, transparent))`,
    };
  },
});

export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
    '--mantine-color-placeholder': 'var(--mantine-color-gray-6)',
    // The menu’s link of this page, under the pointer.
    '--mantine-primary-color-light-hover': 'var(--mantine-primary-color-1)',
  },
  dark: {
    '--mantine-color-dimmed': 'var(--mantine-color-dark-1)',
    '--mantine-color-placeholder': 'var(--mantine-color-dark-2)',
  },
});
