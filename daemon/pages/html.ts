/** HTML templates that escape every value. */

const markup = Symbol('markup')

/** Markup from a template. Parsed input cannot have this type, since the symbol is private. */
export type Html = { readonly [markup]: string }

type Value = Html | string | number | undefined | readonly Html[]

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/**
 * Control characters, and characters that are invisible or reverse the direction of text (Trojan Source,
 * CVE-2021-42574). Tabs and line ends are allowed, and the two joiners, which emoji and some scripts need.
 */
const hidden =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu

/**
 * Inserts values into markup: text is escaped for content and quoted attributes, `Html` is not, undefined is
 * omitted.
 */
export function html(strings: TemplateStringsArray, ...values: Value[]): Html {
  return rawHtml(String.raw({ raw: strings }, ...values.map(toMarkup)))
}

/** Unescaped markup. Only for constants. */
export function rawHtml(text: string): Html {
  return { [markup]: text }
}

export function toText(html: Html): string {
  return html[markup]
}

/**
 * A text of another party as one line of at most `length` characters. Undefined when nothing of it is
 * visible.
 */
export function line(text: string | undefined, length: number): string | undefined {
  const characters = [...(text ?? '').replaceAll(hidden, '').replaceAll(/\s+/g, ' ').trim()]
  if (characters.length === 0) return undefined
  return characters.length <= length ? characters.join('') : `${characters.slice(0, length).join('')}…`
}

/** JSON in which hidden characters are escaped, so that the page shows all of it. */
export function visibleJson(value: unknown): string {
  const escape = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(value).replaceAll(hidden, (character) => character.split('').map(escape).join(''))
}

function toMarkup(value: Value): string {
  if (value === undefined) return ''
  if (typeof value === 'object') return 'map' in value ? value.map(toText).join('') : toText(value)
  return String(value)
    .replaceAll(hidden, '')
    .replaceAll(/[&<>"']/g, (character) => entities[character]!)
}
