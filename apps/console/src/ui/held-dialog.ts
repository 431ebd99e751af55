interface HeldDialog {
  readonly closeOnClickOutside: boolean;
  readonly closeOnEscape: boolean;
  readonly withCloseButton: boolean;
}

/** For what is shown this once: a click beside it or a key must not take it away, only the button in it closes it. */
export function heldDialog(isHeld = true): HeldDialog {
  return { closeOnClickOutside: !isHeld, closeOnEscape: !isHeld, withCloseButton: !isHeld };
}
