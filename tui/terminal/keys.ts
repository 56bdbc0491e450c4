/** Keys and pasted texts, of what Ink reads from the terminal. */
import type { Key } from 'ink'

export type Input = { press: (key: string) => void; paste: (text: string) => void }

const names = [
  ['upArrow', 'up'],
  ['downArrow', 'down'],
  ['leftArrow', 'left'],
  ['rightArrow', 'right'],
  ['pageUp', 'pageup'],
  ['pageDown', 'pagedown'],
  ['home', 'home'],
  ['end', 'end'],
  ['return', 'enter'],
  ['escape', 'escape'],
  ['backspace', 'backspace'],
  // What most terminals send for the backspace key.
  ['delete', 'backspace'],
] as const satisfies [keyof Key, string][]

/** Between these, in brackets, a terminal sends what is pasted (xterm, “Bracketed Paste Mode”). */
const [begin, end] = ['[200~', '[201~']

/** What nobody types, and somebody who shares invitations pastes. */
const link = /^\s*(?:[a-z]+:\/\/|did:|eyJ)/

/** Makes a reader of what `useInput` is called with. A key has its name, or is the character; some may come together. */
export function createReader({ press, paste }: Input): (input: string, key: Key) => void {
  let pasted: string | undefined
  return (input, key) => {
    if (input === begin) return void (pasted = '')
    if (input === end) {
      if (pasted) paste(pasted)
      return void (pasted = undefined)
    }
    if (pasted !== undefined) return void (pasted += key.return ? '\n' : key.tab ? '\t' : input)
    if (key.tab) return press(key.shift ? 'shift-tab' : 'tab')
    const named = names.find(([name]) => key[name])
    if (named) return press(named[1])
    if (key.ctrl) return press(`ctrl-${input}`)
    if (key.meta) return
    // Not all terminals put pasted texts in brackets, and the letters of a link would do anything.
    if (link.test(input)) return paste(input)
    for (const { segment } of new Intl.Segmenter().segment(input)) press(nameOf(segment))
  }
}

function nameOf(character: string): string {
  if (character === '\r' || character === '\n' || character === '\r\n') return 'enter'
  if (character === '\t') return 'tab'
  return character === '\u007f' ? 'backspace' : character
}
