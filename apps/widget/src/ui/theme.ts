import { THEME_VARIABLES, type WidgetTheme } from '@causeway/protocol/widget';

/** A value that can only be a colour, a length or the name of a font: it is put into a style and must not end it. */
const PLAIN = /^[\w\s#%.,()'"/+-]{1,100}$/;

export function applyTheme(theme: WidgetTheme | undefined): void {
  const root = document.documentElement;
  if (theme?.mode !== undefined) root.dataset.theme = theme.mode;
  for (const name of THEME_VARIABLES) {
    const value = theme?.variables?.[name];
    if (value === undefined) root.style.removeProperty(`--cw-${name}`);
    else if (PLAIN.test(value) && !/url|expression/i.test(value))
      root.style.setProperty(`--cw-${name}`, value);
  }
}
