/** Keys and pasted texts, read from the characters that a terminal sends. */

export type Input = { press: (key: string) => void; paste: (text: string) => void }

const escape = '\u001b'

/** Between these a terminal sends a pasted text (xterm, “Bracketed Paste Mode”). */
const [pasteStart, pasteEnd] = [`${escape}[200~`, `${escape}[201~`]

/** The rest of a key's sequence after ESC: CSI, also in the form of the Linux console (`ESC [ [ A`), or SS3. */
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

/** A text that begins like this is a pasted link, not typing. */
const link = /^\s*(?:[a-z]+:\/\/|did:|eyJ)/

/** How long, in milliseconds, ESC waits for the rest of a sequence before it is the Esc key. */
const escapeMs = 30

/**
 * Makes a reader of what the terminal sends, in chunks of any length. A key is pressed by its name, or by its character.
 *
 * Alt has no meaning here. So ESC before anything but a sequence is the Esc key, followed by another key: a fast typist sends both in one chunk.
 */
export function createReader({ press, paste }: Input, waitMs = escapeMs): (chunk: string) => void {
  let pending = ''
  let timer: NodeJS.Timeout | undefined

  function type(text: string): void {
    // Not all terminals mark pasted texts, and the letters of a link would trigger actions.
    if (link.test(text)) return paste(text)
    for (const { segment } of new Intl.Segmenter().segment(text)) press(nameOf(segment))
  }

  /** Reads one key, paste or run of characters and returns the rest; the same text when its end is still to come. */
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

/** The name of the key that sends a sequence; nothing for a key without a meaning, such as F1. */
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
