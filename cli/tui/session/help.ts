/** The keys, as the help and the documentation list them. */
import { wrap, type Row } from './details.ts'
import type { Prompt } from './prompt.ts'

export const help: readonly (readonly [keys: string, meaning: string])[] = [
  ['Tab Shift-Tab 1–6', 'go to another pane'],
  ['↑ ↓ j k PgUp PgDn g G', 'move in the list'],
  ['Enter', 'show the details on the full screen, and back'],
  ['J K', 'scroll the details'],
  ['/  Esc', 'filter the list; clear the filter'],
  ['n', 'new: connection, offer, proof request, DID, webhook'],
  ['a', 'accept an offer, or a proof request'],
  ['i', 'issue a credential whose offer was accepted'],
  ['p', 'ping a connection; present a credential; publish a DID'],
  ['v', 'accept a presentation that was verified'],
  ['x', 'reject; withdraw an invitation (asks first)'],
  ['r', 'revoke a credential (asks first)'],
  ['d', 'delete a credential, proof or webhook (asks first)'],
  ['m L', 'read and send messages; label a connection'],
  ['T', 'trace: each step, and what the flow waits for'],
  ['t s', 'test a webhook; retry failed deliveries'],
  ['y Y', 'copy the invitation’s URL or the id; always the id'],
  ['Q', 'show an invitation as a QR code'],
  ['R', 'reload everything'],
  ['q Ctrl-C  Ctrl-Z', 'quit; suspend (fg resumes)'],
]

const names = 24

export function helpPage(): Prompt {
  return { kind: 'page', id: help, title: 'Keys', rows: helpRows, scroll: 0 }
}

function helpRows(columns: number): Row[] {
  const rows = help.flatMap(([keys, meaning]) =>
    wrap(meaning, columns - names - 1).map((text, index): Row => [
      { text: ` ${(index === 0 ? keys : '').padEnd(names - 1)}`, style: 'chosen' },
      { text },
    ]),
  )
  const more =
    'The last line of the screen shows the keys that work now. To accept an invitation, paste it anywhere.'
  return [...rows, ...wrap(more, columns - 2).map((text): Row => [{ text: ` ${text}`, style: 'faint' }])]
}
