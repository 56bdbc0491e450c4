/** Reads keys and pasted texts from the input of a terminal. */

export type Input = { press: (key: string) => void; paste: (text: string) => void }

const escape = '\u001b'

/** Delimiters of a pasted text (xterm, “Bracketed Paste Mode”). */
const [pasteStart, pasteEnd] = [`${escape}[200~`, `${escape}[201~`]

/** A key sequence after ESC: CSI, the Linux console form (`ESC [ [ A`), or SS3. */
const sequence = /^(?:\[\[?[0-?]*[ -/]*[@-~]|O[@-~])/
const unfinishedSequence = /^(?:\[\[?[0-?]*[ -/]*|O)?$/

/** Keys by their sequences, without `ESC`, the second byte and modifiers. */
const names: Readonly<Record<string, string>> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  F: 'end',
  H: 'home',
  Z: 'shift-tab',
  '1~': 'home',
  '3~': 'backspace',
  '4~': 'end',
  '5~': 'pageup',
  '6~': 'pagedown',
  '7~': 'home',
  '8~': 'end',
}

/** The start of a pasted link. */
const link = /^\s*(?:[a-z]+:\/\/|did:|eyJ)/

/** Milliseconds after which a lone ESC is the Esc key. */
const escapeMs = 30

/**
 * Creates a reader of terminal input in chunks of any length. Keys are reported by name or character.
 *
 * Alt has no meaning. ESC before anything but a sequence is the Esc key followed by another key.
 */
export function createReader({ press, paste }: Input, waitMs = escapeMs): (chunk: string) => void {
  let pending = ''
  let timer: NodeJS.Timeout | undefined

  function type(text: string): void {
    // Some terminals do not delimit pastes. The letters of a link would trigger actions.
    if (link.test(text)) return paste(text)
    for (const { segment } of new Intl.Segmenter().segment(text)) press(nameOf(segment))
  }

  /** Reads one key, paste or run of characters and returns the rest. Returns the same text if it is incomplete. */
  function take(text: string, isComplete: boolean): string {
    if (text.startsWith(pasteStart)) {
      const end = text.indexOf(pasteEnd)
      if (end === -1) return text
      const pasted = text.slice(pasteStart.length, end).replaceAll('\r', '\n')
      if (pasted !== '') paste(pasted)
      return text.slice(end + pasteEnd.length)
    }
    if (!text.startsWith(escape)) {
      const end = text.indexOf(escape)
      type(end === -1 ? text : text.slice(0, end))
      return end === -1 ? '' : text.slice(end)
    }
    const rest = text.slice(escape.length)
    if (!isComplete && unfinishedSequence.test(rest)) return text
    const found = unfinishedSequence.test(rest) ? '' : (sequence.exec(rest)?.[0] ?? '')
    const key = found === '' ? 'escape' : keyOf(found)
    if (key !== undefined) press(key)
    return rest.slice(found.length)
  }

  function read(chunk: string, isComplete = false): void {
    clearTimeout(timer)
    let text = pending + chunk
    for (let before = ''; text !== '' && text !== before;) {
      before = text
      text = take(text, isComplete)
    }
    pending = text
    if (pending !== '' && !pending.startsWith(pasteStart)) timer = setTimeout(read, waitMs, '', true)
  }

  return (chunk) => read(chunk)
}

/** Returns the name of a key by its sequence. Undefined for keys without a meaning, such as F1. */
function keyOf(found: string): string | undefined {
  const [, number, last = ''] = /^(\d*)(?:;\d+)?([A-Z~])$/.exec(found.slice(1)) ?? []
  return names[last === '~' ? `${number}~` : last]
}

function nameOf(character: string): string {
  if (character === '\r' || character === '\n' || character === '\r\n') return 'enter'
  if (character === '\t') return 'tab'
  if (character === '\u007f' || character === '\b') return 'backspace'
  return character < ' ' ? `ctrl-${String.fromCharCode(character.charCodeAt(0) + 96)}` : character
}
