/** Text from elsewhere, made fit for a terminal. */
import { stripVTControlCharacters } from 'node:util'

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
