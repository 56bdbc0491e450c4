/** HTML that is put together from text without any of it becoming markup: one tagged template, through which every value goes. */

const markup = Symbol('markup')

/** A piece of markup that was written here: nothing that was parsed can be one. */
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
 * Control characters, and characters that turn the direction of text around or are not to be seen (Trojan Source, CVE-2021-42574). Tab and
 * line ends stay, and the two joiners, which emoji and some scripts are written with.
 */
const hidden =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu

/** Markup with values in it: text is escaped for content and for attributes in quotes, `Html` stands as it is, `undefined` is nothing. */
export function html(strings: TemplateStringsArray, ...values: Value[]): Html {
  return written(String.raw({ raw: strings }, ...values.map(toMarkup)))
}

/** Markup as it stands, for what is written in the code and for nothing else. */
export function written(text: string): Html {
  return { [markup]: text }
}

export function toText(html: Html): string {
  return html[markup]
}

/** Text from elsewhere on one line, at most `length` characters of it; nothing when there is nothing to be seen. */
export function line(text: string | undefined, length: number): string | undefined {
  const characters = [...(text ?? '').replaceAll(hidden, '').replaceAll(/\s+/g, ' ').trim()]
  if (characters.length === 0) return undefined
  return characters.length <= length ? characters.join('') : `${characters.slice(0, length).join('')}…`
}

/** JSON without a character that a page would leave out, and still the same value. */
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
