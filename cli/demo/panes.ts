/**
 * The demo in two panes side by side: acme on the left, alice on the right, and messages between them as
 * arrows.
 */
import { pad, shorten, widthOf, wrap } from '../format/text.ts'
import { renderingsFor } from '../qr/draw.ts'
import { names, type Name } from './party.ts'

/** The columns that two panes need: each has room for the URL and the QR code of an invitation. */
const leastColumns = 100

type Terminal = { isTTY?: boolean; columns?: number | undefined }

/**
 * Returns true if two panes fit: in a terminal that is wide enough and has block characters. Logs of CI get
 * lines.
 */
export function hasPanes(terminal: Terminal, env: NodeJS.ProcessEnv = process.env): boolean {
  if (env.CI || (terminal.columns ?? 0) < leastColumns) return false
  const renderings = renderingsFor('small', terminal, env)
  return !('reason' in renderings) && renderings[0] === 'small'
}

type Style = (text: string) => string
const asIs: Style = (text) => text

export type Panes = {
  /** The columns of a pane for text. */
  width: number
  /** The line with the names of the parties. */
  head(styleOf: (who: Name) => Style): string
  /** Text in a pane, broken at spaces into lines with a hanging indent. Words that do not fit are shortened. */
  text(who: Name, text: string, style?: Style): string
  /** Lines of `columns` columns that may have colours, such as a QR code. */
  drawing(who: Name, lines: readonly string[], columns: number): string
  /** The arrow of a message, from pane to pane. */
  arrow(from: Name, message: string, style: Style): string
}

/** Divides `columns` columns into two panes. */
export function createPanes(columns: number): Panes {
  const left = Math.floor((columns - 1) / 2)
  const width = left - 1
  const cell = (who: Name, shown: string, used: number) =>
    who === 'acme' ? ` ${shown}${' '.repeat(Math.max(width - used, 0))}│` : `${' '.repeat(left)}│ ${shown}`
  const rule = (length: number) => '─'.repeat(Math.max(length, 0))
  return {
    width,
    head(styleOf) {
      const [acme, alice] = names
      const right = columns - left - 1
      return `── ${styleOf(acme)(acme)} ${rule(left - acme.length - 4)}┬── ${styleOf(alice)(alice)} ${rule(right - alice.length - 4)}`
    },
    text(who, text, style = asIs) {
      const words = text.split(' ').map((word) => shorten(word, width - 2))
      const [first, ...more] = wrap(words.join(' '), width - 2)
      return [first!, ...more.map((line) => `  ${line}`)]
        .map((line) => cell(who, style(line), widthOf(line)))
        .join('\n')
    },
    drawing: (who, lines, used) => lines.map((line) => cell(who, line, used)).join('\n'),
    arrow(from, message, style) {
      const [acme, alice] = names.map((name) => pad(name, name.length + 1))
      const line = columns - 2 - acme!.length - alice!.length - 1
      const label = ` ${message} `
      const before = rule(Math.floor((line - label.length) / 2) - 1)
      const after = rule(Math.ceil((line - label.length) / 2))
      const drawn = from === 'acme' ? `${before}─${label}${after}►` : `◄${before}${label}─${after}`
      return ` ${acme}${style(drawn)} ${alice!.trimEnd()}`
    },
  }
}
