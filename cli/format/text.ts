/** Text on a terminal: control characters, width in columns, line breaks, short names. */
import { stripVTControlCharacters } from 'node:util'

/** Characters that take two columns: East Asian wide ones (Unicode annex 11, by blocks) and emoji, also those that a selector makes one. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\ufe0f/u
/** What takes none: marks and joiners that stand by themselves. */
const invisible = /^[\p{Mn}\p{Me}\p{Cf}]+$/u
// oxlint-disable-next-line no-control-regex
const ascii = /^[\u0000-\u007f]*$/

/** Columns of a line without escape sequences. */
export function widthOf(text: string): number {
  if (ascii.test(text)) return text.length
  return graphemes(text).reduce((sum, each) => sum + (invisible.test(each) ? 0 : wide.test(each) ? 2 : 1), 0)
}

/** Shortens a line to `columns`, with an ellipsis where something was left out: at the end, or in the middle for texts whose end matters. */
export function shorten(text: string, columns: number, where: 'end' | 'middle' = 'end'): string {
  if (widthOf(text) <= columns) return text
  const room = Math.max(columns - 1, 0)
  const tail = where === 'middle' ? Math.floor(room / 3) : 0
  const all = graphemes(text)
  return `${take(all, room - tail).join('')}…${take(all.toReversed(), tail).toReversed().join('')}`
}

/** Fills a line up with blanks to `columns`. */
export function pad(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(columns - widthOf(text), 0))
}

function take(all: string[], columns: number): string[] {
  let used = 0
  const end = all.findIndex((each) => (used += widthOf(each)) > columns)
  return end === -1 ? all : all.slice(0, end)
}

function graphemes(text: string): string[] {
  return ascii.test(text)
    ? [...text]
    : Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment)
}

/** Control characters other than tab and newline, and the marks that turn the direction of text around (Trojan Source, CVE-2021-42574). */
// oxlint-disable-next-line no-control-regex
const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Takes out escape sequences and control characters: a label that a peer chose must not be able to redraw our terminal. */
export function safe(text: string): string {
  return stripVTControlCharacters(text).replaceAll(hidden, '')
}

/** As `safe`, on one line. */
export function safeLine(text: string): string {
  return safe(text.replaceAll(/[\t\r\n]+/g, ' '))
}

/** JSON whose strings hold no control character literally; still the same JSON value. */
export function safeJson(value: unknown): string {
  return escape(JSON.stringify(value, null, 2))
}

/** As `safeJson`, on one line. */
export function compactJson(value: unknown): string {
  return escape(JSON.stringify(value))
}

function escape(json: string): string {
  return json.replaceAll(
    /[\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Breaks a text at its blanks into lines of at most `columns`; a word that is longer stays whole. */
export function wrap(text: string, columns = Infinity): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const last = lines.at(-1)!
    if (last !== '' && widthOf(last) + 1 + widthOf(word) > columns) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return lines
}

type Named = {
  connectionId: string
  label?: string | undefined
  goal?: string | undefined
  theirDid?: string | undefined
}

/** The last characters of an id. Ids begin with the time, so the first ones are the same for all of a minute. */
export function shortId(id: string): string {
  return id.slice(-8)
}

/** A name that tells a connection from others: its label, the goal of its invitation, or the peer's host with the end of the id. */
export function connectionName({ connectionId, label, goal, theirDid }: Named): string {
  return label ?? goal ?? [hostOf(theirDid) ?? 'unnamed', shortId(connectionId)].join(' ')
}

/** Where a peer is reached, which a did:peer of the second kind says: a host, with a port that is not the usual one. */
function hostOf(did = ''): string | undefined {
  for (const [, service = ''] of did.startsWith('did:peer:2') ? did.matchAll(/\.S([\w=-]+)/g) : []) {
    const [, url] =
      /"(?:uri|s|serviceEndpoint)"\s*:\s*"([a-z]+:\/\/[^"]+)"/.exec(
        Buffer.from(service, 'base64url').toString(),
      ) ?? []
    if (url !== undefined && URL.canParse(url)) return new URL(url).host
  }
  return undefined
}
