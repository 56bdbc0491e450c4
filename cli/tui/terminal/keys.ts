/**
 * Reads keys and pasted texts by the reader of Node.js. That of Ink loses pastes, parts of sequences, and Esc
 * before a character.
 */
import { EventEmitter } from 'node:events'
import { emitKeypressEvents, type Interface, type Key } from 'node:readline'

export type Input = { press: (key: string) => void; paste: (text: string) => void }

const escape = '\u001b'

/** The Esc key, and what follows it. An ESC that begins a sequence is not the key. */
// oxlint-disable-next-line no-control-regex -- what a terminal sends
const escaped = /^\u001b(?=\u001b|[^[O]|$)/

/** Keys that send a sequence, by their names in Node.js where those differ. */
const names: Readonly<Record<string, string>> = { delete: 'backspace', tab: 'shift-tab' }

/** The start of a pasted link. */
const link = /^\s*(?:[a-z]+:\/\/|did:|eyJ)/

/** Milliseconds after which a lone ESC is the Esc key. */
const escapeMs = 30

/**
 * Creates a reader of terminal input in chunks of any length. Keys are reported by name or character.
 *
 * Alt has no meaning. ESC before anything but a sequence is the Esc key followed by another key.
 */
export function createReader({ press, paste }: Input, escapeCodeTimeout = escapeMs): (chunk: string) => void {
  let pasted: string | undefined
  const input = new EventEmitter()
  input.on('keypress', (_, { name = '', sequence = '' }: Key) => {
    if (name === 'paste-start') pasted = ''
    else if (name === 'paste-end') {
      if (pasted) paste(pasted.replaceAll('\r', '\n'))
      pasted = undefined
    } else if (pasted !== undefined) pasted += sequence
    else {
      const rest = sequence.replace(escaped, '')
      if (rest !== sequence) press('escape')
      const isSequence = rest.length > 1 && rest.startsWith(escape)
      if (rest !== '') press(isSequence ? (names[name] ?? name) : nameOf(rest))
    }
  })
  emitKeypressEvents(input as NodeJS.ReadStream, { escapeCodeTimeout } as unknown as Interface)
  return (chunk) => {
    // Some terminals do not delimit pastes. The letters of a link would trigger actions.
    if (pasted === undefined && link.test(chunk)) paste(chunk)
    else input.emit('data', chunk)
  }
}

function nameOf(character: string): string {
  if (character === '\r' || character === '\n') return 'enter'
  if (character === '\t') return 'tab'
  if (character === escape) return 'escape'
  if (character === '\u007f' || character === '\b') return 'backspace'
  return character < ' ' ? `ctrl-${String.fromCharCode(character.charCodeAt(0) + 96)}` : character
}
