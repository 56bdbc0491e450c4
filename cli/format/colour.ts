/** Colours, by what they mean. A colour never stands for a word: whoever sees none reads the same. */
import { styleText } from 'node:util'

const styles = {
  /** All went well. */
  good: 'green',
  /** Something is to come: from the other side, from the daemon, or from here. */
  waiting: 'yellow',
  /** It has come to a bad end. */
  bad: 'red',
  /** To be looked at first, such as a name in a question. */
  strong: 'bold',
  /** What matters less, such as an age. */
  faint: 'dim',
  /** What can be chosen or typed. */
  chosen: 'cyan',
} as const
export type Style = keyof typeof styles

/** Gives a text a style, or leaves it as it is where there are no colours. */
export type Paint = (style: Style, text: string) => string

/** Without colours. */
export const plain: Paint = (_, text) => text

const coloured: Paint = (style, text) =>
  text === '' ? text : styleText(styles[style], text, { validateStream: false })

// A symbol, since a claim is JSON of somebody else's, and may be an object of any shape.
const style = Symbol('style')

/** A text that gets a style where there are colours, once it is cut and stands in its place. */
export type Styled = { readonly [style]: Style; readonly text: string }

/** A text in a style. */
export function inStyle(wanted: Style, text: string): Styled {
  return { [style]: wanted, text }
}

/** The style of what is to be printed, and its text; anything but a text is JSON. */
export function toStyled(value: unknown): { style: Style | undefined; text: string } {
  if (typeof value === 'object' && value !== null && style in value)
    return { style: (value as Styled)[style], text: (value as Styled).text }
  return { style: undefined, text: typeof value === 'string' ? value : JSON.stringify(value) }
}

type Environment = Readonly<Record<string, string | undefined>>

/** The colours of what is written to a stream: `colour(process.stdout)('good', 'connected')`. */
export function colour(stream: { isTTY?: boolean }, env: Environment = process.env): Paint {
  return hasColours(stream, env) ? coloured : plain
}

/**
 * Whether a stream gets colours (no-color.org, bixense.com/clicolors): never with NO_COLOR, always with CLICOLOR_FORCE or FORCE_COLOR,
 * otherwise a terminal that is not a dumb one and of which CLICOLOR=0 does not say no.
 */
export function hasColours({ isTTY = false }: { isTTY?: boolean }, env: Environment = process.env): boolean {
  if (env.NO_COLOR) return false
  const forced = env.CLICOLOR_FORCE || env.FORCE_COLOR
  if (forced) return forced !== '0' && forced !== 'false'
  return isTTY && env.TERM !== 'dumb' && env.CLICOLOR !== '0'
}
