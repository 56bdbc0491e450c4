/** Colours by meaning. Output without colours has the same text. */
import { styleText } from 'node:util'

type Format = Parameters<typeof styleText>[0]

const styles = {
  /** Success. */
  good: 'green',
  /** Waits for an action of this side, or needs attention. */
  waiting: 'yellow',
  /** In progress, or waits for the other side. */
  running: 'cyan',
  /** Failure. */
  bad: 'red',
  /** Most important, such as a name in a question. */
  strong: 'bold',
  /** Less important, such as an age, or over, such as an expired invitation. */
  faint: 'dim',
  /** Selectable, or to be typed. */
  chosen: 'cyan',
  /** The role that invites, issues or verifies. */
  role: 'magenta',
  /** The selected row. */
  selected: ['inverse', 'cyan'],
} satisfies Record<string, Format>
export type Style = keyof typeof styles

/** Applies a style to a text, if colours are enabled. */
export type Paint = (style: Style, text: string) => string

/** Applies no style. */
export const plain: Paint = (_, text) => text

const coloured: Paint = (style, text) => format(styles[style], text)

/** The styles of a screen without colours: attributes that need none (no-color.org speaks of colours only). */
const attributes = { strong: 'bold', faint: 'dim', selected: 'inverse' } as const

/** Applies reverse video, bold and faint, without colours. */
export const uncoloured: Paint = (style, text) =>
  style in attributes ? format(attributes[style as keyof typeof attributes], text) : text

function format(formats: Format, text: string): string {
  return text === '' ? text : styleText(formats, text, { validateStream: false })
}

// A symbol, because claims from other parties may be objects with any keys.
const style = Symbol('style')

/** A text and its style, which is applied after cutting and padding. */
export type Styled = { readonly [style]: Style; readonly text: string }

export function inStyle(wanted: Style, text: string): Styled {
  return { [style]: wanted, text }
}

/** Returns the text and style of a value. Values other than strings are printed as JSON. */
export function toStyled(value: unknown): { style: Style | undefined; text: string } {
  if (typeof value === 'object' && value !== null && style in value)
    return { style: (value as Styled)[style], text: (value as Styled).text }
  return { style: undefined, text: typeof value === 'string' ? value : JSON.stringify(value) }
}

type Environment = Readonly<Record<string, string | undefined>>

/** Returns the paint function of a stream: `colour(process.stdout)('good', 'connected')`. */
export function colour(stream: { isTTY?: boolean }, env: Environment = process.env): Paint {
  return hasColours(stream, env) ? coloured : plain
}

/**
 * Returns true if a stream gets colours (no-color.org, bixense.com/clicolors): never with NO_COLOR, always
 * with CLICOLOR_FORCE or FORCE_COLOR, otherwise for terminals except TERM=dumb and with CLICOLOR=0.
 */
export function hasColours({ isTTY = false }: { isTTY?: boolean }, env: Environment = process.env): boolean {
  if (env.NO_COLOR) return false
  const forced = env.CLICOLOR_FORCE || env.FORCE_COLOR
  if (forced) return forced !== '0' && forced !== 'false'
  return isTTY && env.TERM !== 'dumb' && env.CLICOLOR !== '0'
}
