/** What can be done with an item, or with none: a key, a word for it, and the steps. */
import type { Daemon } from '../daemon.ts'
import type { Data } from '../data/data.ts'
import type { Store } from '../data/store.ts'
import type { PaneName } from '../panes/pane.ts'
import type { Row } from '../session/details.ts'
import type { Field, Option } from '../session/prompt.ts'

/** What the steps of an action can ask and show. Whoever leaves a question with Esc answers nothing, and nothing is done. */
export type Desk = {
  call: Daemon['call']
  data: () => Data
  store: Pick<Store, 'reloadDids' | 'reloadWebhooks' | 'amend'>
  confirm: (question: string, lines?: readonly string[]) => Promise<boolean>
  choose: <Value>(title: string, options: readonly Option<Value>[]) => Promise<Value | undefined>
  /** Asks for the values of fields, beginning with the field `start`. `check` throws what is wrong with the values. */
  fill: (
    title: string,
    fields: readonly Field[],
    more?: { start?: string; note?: string; check?: (values: Record<string, string>) => void },
  ) => Promise<Record<string, string> | undefined>
  /** Shows an invitation as a QR code while `isOpen`. */
  showQr: (title: string, url: string, isOpen: (data: Data) => boolean) => void
  /** Shows lines on the whole screen until the person leaves them. */
  showPage: (page: ShownPage) => void
  /** Shows the top of a pane, where what was begun now is. */
  goTo: (pane: PaneName) => void
  /** Puts a text on the terminal's clipboard. */
  copy: (text: string) => void
  /** Says what is being done. */
  say: (text: string) => void
  /** Waits until the data are as they should be. @throws {CommandError} when they are not in time. */
  until: (what: string, isSo: (data: Data) => boolean) => Promise<void>
}

export type ShownPage = {
  title: string
  rows: (columns: number) => readonly Row[]
  /** Loads the rows again, from time to time while the page is open. */
  reload?: () => Promise<(columns: number) => readonly Row[]>
  /** The text that `y` copies. */
  copied?: string
  /** Sends a line that is typed at the foot; such a page begins at its end. */
  send?: (text: string) => Promise<unknown>
}

export type Action = {
  key: string
  /** A word for the line of keys. */
  word: string
  /** The same action as another one: the line of keys leaves it out. */
  isAlias?: boolean
  /** Does it. What it returns is said to the person; nothing when they have left it. */
  run: (desk: Desk) => Promise<string | undefined>
}
