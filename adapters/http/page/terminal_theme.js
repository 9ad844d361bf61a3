/**
 * Colours of the terminal, light and dark.
 *
 * @module
 */

/** @type {import("@xterm/xterm").ITheme} */
export const DARK = {
  background: "#14171d",
  foreground: "#d7dbe3",
  cursor: "#8ab4ff",
  cursorAccent: "#14171d",
  selectionBackground: "#33507f",
  black: "#2b303b",
  red: "#f0717a",
  green: "#83c99a",
  yellow: "#e3bf72",
  blue: "#7aa9f7",
  magenta: "#c795e6",
  cyan: "#6ec6cf",
  white: "#c5cad4",
  brightBlack: "#7a8394",
  brightRed: "#ff8f95",
  brightGreen: "#a3dfb5",
  brightYellow: "#f2d595",
  brightBlue: "#9dc0ff",
  brightMagenta: "#dab3f3",
  brightCyan: "#94dde4",
  brightWhite: "#f4f6fa",
  scrollbarSliderBackground: "#ffffff26",
  scrollbarSliderHoverBackground: "#ffffff40",
  scrollbarSliderActiveBackground: "#ffffff55",
};

/** @type {import("@xterm/xterm").ITheme} */
export const LIGHT = {
  background: "#fdfdfc",
  foreground: "#23272f",
  cursor: "#2a62d6",
  cursorAccent: "#fdfdfc",
  selectionBackground: "#bcd2fa",
  black: "#23272f",
  red: "#b4232c",
  green: "#1d7440",
  yellow: "#855b00",
  blue: "#2256c4",
  magenta: "#8a34b0",
  cyan: "#0f6c77",
  white: "#6b7280",
  brightBlack: "#5a6271",
  brightRed: "#cc2f38",
  brightGreen: "#258a4e",
  brightYellow: "#9a6b00",
  brightBlue: "#2f68de",
  brightMagenta: "#a044c9",
  brightCyan: "#13808c",
  brightWhite: "#3c4350",
  scrollbarSliderBackground: "#00000022",
  scrollbarSliderHoverBackground: "#00000038",
  scrollbarSliderActiveBackground: "#0000004d",
};

/** Contrast that text has at least, whatever colours a program chose (WCAG AA). */
export const LEAST_CONTRAST = 4.5;
