/** Text on a terminal: control characters, width in columns, line breaks, short names. */
import { stripVTControlCharacters } from 'node:util'
import { canonicalDid, isPeerDid } from '../../src/definitions/did-names.ts'

/**
 * Characters of two columns: East Asian wide ones (Unicode Annex 11, by blocks) and emoji, including those
 * with a selector.
 */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\ufe0f/u
/** Characters of no width: marks and joiners. */
const invisible = /^[\p{Mn}\p{Me}\p{Cf}]+$/u
/**
 * Texts of characters of one column: Latin letters, punctuation and frames. They need no `Intl.Segmenter`,
 * which is slow to load.
 */
// oxlint-disable-next-line no-control-regex
const narrow = /^[\u0000-\u007f\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2190-\u2193\u2500-\u25fc]*$/

/** Returns the columns of a line without escape sequences. */
export function widthOf(text: string): number {
  if (narrow.test(text)) return text.length
  return graphemes(text).reduce((sum, each) => sum + (invisible.test(each) ? 0 : wide.test(each) ? 2 : 1), 0)
}

/** Shortens a line to `columns`, with an ellipsis at the end, or in the middle if the end matters. */
export function shorten(text: string, columns: number, where: 'end' | 'middle' = 'end'): string {
  if (widthOf(text) <= columns) return text
  const room = Math.max(columns - 1, 0)
  const tail = where === 'middle' ? Math.floor(room / 3) : 0
  const all = graphemes(text)
  return `${take(all, room - tail).join('')}…${take(all.toReversed(), tail).toReversed().join('')}`
}

/** Pads a line with spaces to `columns`. */
export function pad(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(columns - widthOf(text), 0))
}

function take(all: string[], columns: number): string[] {
  let used = 0
  const end = all.findIndex((each) => (used += widthOf(each)) > columns)
  return end === -1 ? all : all.slice(0, end)
}

function graphemes(text: string): string[] {
  return narrow.test(text)
    ? [...text]
    : Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment)
}

/** Control characters other than tab and newline, and bidirectional marks (Trojan Source, CVE-2021-42574). */
// oxlint-disable-next-line no-control-regex
const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Removes escape sequences and control characters. A label from a peer must not control the terminal. */
export function safe(text: string): string {
  return stripVTControlCharacters(text).replaceAll(hidden, '')
}

/** Returns `safe` text on one line. */
export function safeLine(text: string): string {
  return safe(text.replaceAll(/[\t\r\n]+/g, ' '))
}

/** Prints JSON with all control characters escaped. */
export function safeJson(value: unknown): string {
  return escape(JSON.stringify(value, null, 2))
}

/** Prints `safeJson` on one line. */
export function compactJson(value: unknown): string {
  return escape(JSON.stringify(value))
}

function escape(json: string): string {
  return json.replaceAll(
    /[\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Breaks a text at spaces into lines of at most `columns`. Longer words stay whole. */
export function wrap(text: string, columns = Infinity): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const last = lines.at(-1)!
    if (last !== '' && widthOf(last) + 1 + widthOf(word) > columns) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return lines
}

/**
 * Breaks each line of a message for a terminal of `columns`: at spaces, below the value of a line
 * `name  value`. Commands and pictures stay whole, so that they can be copied and scanned.
 */
export function fold(text: string, columns = Infinity): string {
  return text
    .split('\n')
    .flatMap((line) => {
      const plain = stripVTControlCharacters(line)
      if (widthOf(plain) <= columns || /^\s*(?:[$→] )?agent |[▀▄█]/.test(plain)) return [line]
      const [head, margin] = /^(\s*)(?:\S+(?: \S+)* {2,})?/.exec(line) as unknown as [string, string]
      const start = widthOf(head) <= columns / 2 ? head : margin
      const indent = ' '.repeat(widthOf(start))
      const [first = '', ...more] = wrap(line.slice(start.length), columns - indent.length)
      return [start + first, ...more.map((each) => indent + each)].map((each) => each.trimEnd())
    })
    .join('\n')
}

/**
 * Breaks a command line before its flags and pipes into lines of at most `columns`, each but the last with a
 * backslash at its end, so that a shell still reads it as one. A longer word stays whole.
 */
export function breakCommand(line: string, columns: number): string {
  if (widthOf(line) <= columns) return line
  const [, indent] = /^(\s*)/.exec(line) as unknown as [string, string]
  // A part is a flag with its value: its spaces do not break.
  const parts = line.trim().split(/(?<!^\$) (?=(?:agent |--?\w|[|>]|&& )(?:[^"']|"[^"]*"|'[^']*')*$)/)
  const whole = parts.map((part) => part.replaceAll(' ', '\u00a0')).join(' ')
  return wrap(whole, columns - indent.length - '     \\'.length)
    .map((each, index) => `${indent}${index === 0 ? '' : '    '}${each.replaceAll('\u00a0', ' ')}`)
    .join(' \\\n')
}

/** Returns the name at the end of a type: of a URL, or of a document type, such as `mDL` or `pid.1`. */
export function shortType(type: string): string {
  const [name] = /^\w+(?:\.\w+){2,}$/.test(type) ? (/[^.]*[a-z][^.]*(?:\.\d+)*$/i.exec(type) ?? []) : []
  return name ?? shortUrlName(type)
}

type Named = {
  connectionId: string
  label?: string | undefined
  goal?: string | undefined
  theirDid?: string | undefined
}

/** Returns the last characters of an id. The first ones are a timestamp, which recent ids share. */
export function shortId(id: string): string {
  return id.slice(-8)
}

const ids = /\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b/gi
const leastEnd = 6

/**
 * Returns a function that replaces the ids in a text by their ends, such as `…9a6a43`. The ends are as long
 * as it takes to distinguish the ids of all texts.
 */
export function endsOfIds(texts: readonly string[]): (text: string) => string {
  const all = [...new Set(texts.flatMap((text) => text.match(ids) ?? []))]
  let length = leastEnd
  while (new Set(all.map((id) => id.slice(-length))).size < all.length) length++
  return (text) => text.replaceAll(ids, (id) => `…${id.slice(-length)}`)
}

/**
 * Returns the name of a connection: its label, the goal of its invitation, or the peer's host and the end of
 * the id.
 */
export function connectionName({ connectionId, label, goal, theirDid }: Named): string {
  return label ?? goal ?? [hostOf(theirDid) ?? 'unnamed', shortId(connectionId)].join(' ')
}

/** Returns the host of a did:peer:2, with its port unless it is the default. */
export function hostOf(did = ''): string | undefined {
  for (const [, service = ''] of isPeerDid(did) ? did.matchAll(/\.S([\w=-]+)/g) : []) {
    const [, url] =
      /"(?:uri|s|serviceEndpoint)"\s*:\s*"([a-z]+:\/\/[^"]+)"/.exec(
        Buffer.from(service, 'base64url').toString(),
      ) ?? []
    if (url !== undefined && URL.canParse(url)) return new URL(url).host
  }
  return undefined
}

/** The longest DIDs that stay whole, in characters: in a few words about a record, and elsewhere. */
const longestDid = { inWords: 32, elsewhere: 80 }

/**
 * Returns a long DID as its beginning and its end, such as `did:jwk:eyJhb…ZyIn0`. Commands accept this form
 * of the wallet's DIDs.
 */
export function shortDid(did: string, longest = longestDid.inWords): string {
  const form = canonicalDid(did)
  if (form.length <= longest) return form
  const [, method, rest] = /^(did:[a-z0-9]+:)(.*)$/s.exec(form)!
  return `${method}${rest!.slice(0, 5)}…${shortId(rest!)}`
}

const longDids = new RegExp(`did:[a-z0-9]+:[\\w.%:-]{${longestDid.elsewhere - 'did:x:'.length},}[\\w%-]`, 'g')

/** Shortens the long DIDs in a text that a person reads. Words with a URL stay, since they are copied. */
export function shortenDids(text: string): string {
  if (!text.includes('did:')) return text
  return text.replaceAll(/\S+/g, (word) =>
    word.includes('://') ? word : word.replaceAll(longDids, (did) => shortDid(did, longestDid.elsewhere)),
  )
}

/**
 * Returns the name at the end of a URL, such as `employee`, or the end of a guid and the host. Other texts
 * are unchanged.
 */
export function shortUrlName(text: string): string {
  const url = /^https?:/.test(text) && URL.canParse(text) ? new URL(text) : undefined
  const names = url?.pathname.split('/').filter((part) => part !== '' && part !== 'schema') ?? []
  const name = names.at(-1)?.replace(/\.json$/, '')
  if (!url || name === undefined) return text
  return /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(name) ? `…${shortId(name)} of ${url.host}` : name
}
