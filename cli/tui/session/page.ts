/** Pages of lines that fill the screen: help, traces and messages. */
import type { Prompt } from './prompt.ts'
import { wrap, type Row } from './details.ts'
import type { Ui } from './ui.ts'

export type Page = Extract<Prompt, { kind: 'page' }>

/** The widest box between the tabs and the keys. */
const widestBox = 84

/** Returns the rows of a window of `room` lines, and how many are above and below it. */
export function windowOf(rows: readonly Row[], room: number, scroll: number) {
  const last = Math.max(rows.length - room, 0)
  const first = Math.min(scroll, last)
  const note = [first > 0 ? `${first} above` : '', first < last ? `${last - first} below` : '']
  return { shown: rows.slice(first, first + room), first, last, note: note.filter(Boolean).join(', ') }
}

/** Returns the visible lines of a page, their number, and the lines and columns of its frame. */
export function shownOf(page: Page, { size, isPlain }: Pick<Ui, 'size' | 'isPlain'>) {
  const { rows, scroll, draft, problem } = page
  const isBox = page.isBox && !isPlain
  const width = isBox ? Math.min(size.columns - 4, widestBox) : size.columns
  const columns = isPlain ? width : width - 4
  const all = rows(columns)
  const problemLines = problem === undefined ? [] : wrap(`✗ ${problem}`, columns)
  const height = isBox ? Math.min(size.rows - 5, all.length) : size.rows - (isPlain ? 2 : 3)
  const room = Math.max(height - (draft === undefined ? 0 : 1) - problemLines.length, 1)
  return { ...windowOf(all, room, scroll), problemLines, room, height, width }
}

const letters: Readonly<Record<string, string>> = {
  j: 'down',
  k: 'up',
  g: 'home',
  G: 'end',
  'ctrl-u': 'pageup',
}

/**
 * Returns the number of lines that a key moves by, of which a page has `page`. Undefined for other keys, such
 * as letters of a text.
 */
export function stepOf(key: string, page: number, isText = false): number | undefined {
  const steps: Readonly<Record<string, number>> = {
    down: 1,
    up: -1,
    pagedown: page,
    'ctrl-d': page,
    pageup: -page,
    home: -Infinity,
    end: Infinity,
  }
  return steps[(isText ? undefined : letters[key]) ?? key]
}

/** Returns the page after a key. Undefined for other keys. */
export function turnPage(page: Page, key: string, ui: Pick<Ui, 'size' | 'isPlain'>): Page | undefined {
  const { room, first, last } = shownOf(page, ui)
  const step = stepOf(key, room - 1, page.draft !== undefined)
  // A page at its end follows new lines.
  if (step !== undefined)
    return { ...page, scroll: first + step >= last ? Infinity : Math.max(first + step, 0) }
  const draft = page.draft === undefined ? undefined : typed(page.draft, key)
  return draft === undefined ? undefined : { ...page, draft, problem: undefined }
}

/** All keys, in groups. */
export const help: readonly { group: string; keys: readonly (readonly [keys: string, meaning: string])[] }[] =
  [
    {
      group: 'Lists',
      keys: [
        ['Tab Shift-Tab 1–6', 'go to another pane'],
        ['↑ ↓ j k PgUp PgDn g G', 'move in the list'],
        ['Enter', 'show the details on the full screen, and back'],
        ['J K', 'scroll the details'],
        ['/  Esc', 'filter the list; clear the filter'],
        [':', 'command line; Tab completes, ↑ ↓ repeat earlier lines'],
      ],
    },
    {
      group: 'Credentials and proofs',
      keys: [
        ['n', 'new: connection, offer, proof request, DID, webhook'],
        ['a', 'accept an offer, or a proof request'],
        ['i', 'issue a credential whose offer was accepted'],
        ['p', 'present a credential; publish a DID'],
        ['v', 'accept a presentation that was verified'],
        ['x', 'reject; withdraw an invitation (asks first)'],
        ['r', 'revoke a credential (asks first)'],
        ['D', 'deactivate a DID (asks first)'],
        ['d', 'delete a connection, credential, proof or webhook (asks first)'],
      ],
    },
    {
      group: 'The selected item',
      keys: [
        ['m P L', 'messages, ping, and label of a connection, or of a record’s; label of a DID'],
        ['T', 'trace: each step, and what the flow waits for'],
        ['t s e', 'test a webhook; retry failed deliveries; edit its signing'],
        ['y Y U', 'copy the invitation’s URL, or the id; always the id; the long URL'],
        ['Q', 'show an invitation as a QR code'],
      ],
    },
    {
      group: 'The dashboard',
      keys: [
        ['R', 'reload everything'],
        ['?', 'these keys'],
        ['q Ctrl-C  Ctrl-Z', 'quit; suspend (fg resumes)'],
      ],
    },
  ]

const names = 23

export function helpPage(): Prompt {
  return { kind: 'page', id: help, title: 'Keys', isBox: true, rows: helpRows, scroll: 0 }
}

function helpRows(columns: number): Row[] {
  const rows = help.flatMap(({ group, keys }): Row[] => [
    [{ text: group, style: 'strong' }],
    ...keys.flatMap(([key, meaning]) =>
      wrap(meaning, columns - names).map((text, index): Row => [
        { text: (index === 0 ? key : '').padEnd(names), style: 'chosen' },
        { text },
      ]),
    ),
    [],
  ])
  const more =
    'The last line of the screen shows the keys that work now. To accept an invitation, paste it anywhere.'
  return [...rows, ...wrap(more, columns).map((text): Row => [{ text, style: 'faint' }])]
}

/** Returns a text after a key. Undefined for keys that do not edit. */
export function typed(text: string, key: string): string | undefined {
  if (key === 'backspace') return graphemes(text).slice(0, -1).join('')
  if (key === 'ctrl-u') return ''
  return graphemes(key).length === 1 ? text + key : undefined
}

export function graphemes(text: string): string[] {
  return Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment)
}
