/** Actions on an item: a key, its label, and the steps. */
import type { Daemon, Data } from '../data/data.ts'
import type { Store } from '../data/store.ts'
import type { Invitation, Pane, PaneName } from '../panes/pane.ts'
import type { Row } from '../session/details.ts'
import type { Field, Option } from '../session/prompt.ts'
import { sharedActionsOf } from './shared.ts'

/**
 * The context of an action: the daemon, the data and the screen. Questions return undefined on Esc; the
 * action then stops.
 */
export type ActionContext = {
  call: Daemon['call']
  data: () => Data
  store: Pick<Store, 'reloadDids' | 'reloadWebhooks' | 'amend'>
  confirm: (question: string, lines?: readonly string[]) => Promise<boolean>
  /** Asks for one of several options, below `lines`. */
  choose: <Value>(
    title: string,
    options: readonly Option<Value>[],
    lines?: readonly string[],
  ) => Promise<Value | undefined>
  /** Asks for the values of fields, starting at the field `start`. `check` throws for invalid values. */
  fill: (
    title: string,
    fields: readonly Field[],
    more?: { start?: string; note?: string; check?: (values: Record<string, string>) => void },
  ) => Promise<Record<string, string> | undefined>
  /** Shows the open invitation of an item as a QR code, until it is answered. */
  showInvitation: (pane: Pane<any>, item: unknown) => void
  /** Shows a link as a QR code while `isOpen`. */
  showCode: (link: Invitation, isOpen: (data: Data) => boolean) => void
  /** Waits until a new item is in the list of its pane, and shows its invitation. */
  showNewInvitation: (pane: PaneName, item: unknown) => Promise<void>
  /** Shows lines on the whole screen until the user closes them. */
  showPage: (page: ShownPage) => void
  /** Shows the top of a pane, where the new item is. */
  goTo: (pane: PaneName) => void
  /** Copies a text to the clipboard of the terminal. */
  copy: (text: string) => void
  /** Shows the progress. */
  say: (text: string) => void
  /** Waits until `isSo` holds for the data. @throws {CommandError} on timeout */
  until: (what: string, isSo: (data: Data) => boolean) => Promise<void>
}

export type ShownPage = {
  title: string
  rows: (columns: number) => readonly Row[]
  /** Reloads the rows, periodically while the page is open. */
  reload?: () => Promise<(columns: number) => readonly Row[]>
  /** The text that `y` copies. */
  copied?: string
  /** Sends a line typed at the bottom. Such a page starts at its end. */
  send?: (text: string) => Promise<unknown>
}

/** Runs an action. Returns the message for the user, or undefined if they cancelled. */
export type Run<Item> = (context: ActionContext, item: Item) => Promise<string | undefined>

export type Action<Item = unknown> = {
  key: string
  /** Its label in the line of keys. */
  word: string
  /** Hidden in the line of keys, because another key has the same action. */
  isAlias?: boolean
  /** True for the items that have this action; all by default. */
  when?: (item: Item) => boolean
  run: Run<Item>
}

/** Returns the actions that an item of a pane has now. An event has those of its record, too. */
export function actionsOf<Item>(pane: Pane<Item>, item: Item, data: Data): Action<Item>[] {
  const own = [
    ...pane.actions.filter(({ when }) => when?.(item) ?? true),
    ...sharedActionsOf(pane, item, data),
  ]
  const record = pane.record?.(item, data)
  if (!record) return own
  const others = actionsOf(record.pane, record.item, data).filter(({ key }) =>
    own.every((each) => each.key !== key),
  )
  return [
    ...others.map((each) => ({ ...each, run: (context: ActionContext) => each.run(context, record.item) })),
    ...own,
  ]
}
