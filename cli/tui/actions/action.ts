/** Actions on an item: a key, its label, and the steps. Copying and tracing are shared by every pane. */
import type { Daemon, Data } from '../data/data.ts'
import type { Store } from '../data/store.ts'
import type { Pane, PaneName } from '../panes/pane.ts'
import { wrap, type Row } from '../session/details.ts'
import type { Field, Option } from '../session/prompt.ts'
import { shorten, widthOf } from '../../format/text.ts'
import { traceText } from '../../trace/text.ts'

/** The context of an action: the daemon, the data and the screen. Questions return undefined on Esc; the action then stops. */
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

/** Returns the actions that an item of a pane has now. */
export function actionsOf<Item>(pane: Pane<Item>, item: Item): Action<Item>[] {
  const url = pane.invitation?.(item)?.url
  const thread = pane.thread?.(item)
  const { idName = 'id' } = pane
  return [
    ...(url === undefined ? [] : [qrAction(pane)]),
    ...pane.actions.filter(({ when }) => when?.(item) ?? true),
    ...(thread === undefined ? [] : [traceAction(thread)]),
    ...(pane.remove ? [{ key: 'd', word: 'delete', run: pane.remove }] : []),
    ...(url === undefined ? [] : [copyAction('y', 'URL', url)]),
    copyAction(url === undefined ? 'y' : 'Y', idName, pane.id(item)),
  ]
}

function qrAction<Item>(pane: Pane<Item>): Action<Item> {
  return {
    key: 'Q',
    word: 'QR',
    run: async (context, item) => {
      context.showInvitation(pane, item)
      return undefined
    },
  }
}

/** Characters of the copied text in the message. */
const mostShown = 80

function copyAction(key: string, what: string, text: string): Action {
  return {
    key,
    word: `copy ${what}`,
    run: async (context) => {
      context.copy(text)
      return `Copied the ${what}, if the terminal lets programs copy (OSC 52): ${shorten(text, mostShown, 'middle')}`
    },
  }
}

/** Shows and follows the trace of a thread or a DID. */
function traceAction(id: string): Action {
  return { key: 'T', word: 'trace', run: (context) => showTrace(context, id) }
}

async function showTrace(context: ActionContext, id: string): Promise<undefined> {
  const load = async () => {
    const trace = await context.call('GET /traces/{id}', { path: { id } })
    return (columns: number): Row[] =>
      traceText(trace, { now: Date.now() })
        .split('\n')
        .flatMap((line) => fit(line, columns - 1))
        .map((text, index) => [{ text, style: index === 0 ? 'strong' : undefined }])
  }
  context.say('Loading the trace …')
  context.showPage({ title: 'Trace', rows: await load(), reload: load, copied: id })
}

/** Columns of the two times at the start of a step. */
const times = 22

/** Wraps a line of a trace. The text of a step continues beside its times. */
function fit(line: string, columns: number): string[] {
  if (widthOf(line) <= columns) return [line]
  const isStep = /^ +[\d.]+ [a-z]+ /.test(line)
  const start = isStep ? times : 2
  return wrap(line.slice(start).trim(), columns - start).map(
    (text, index) => (index === 0 ? line.slice(0, start) : ' '.repeat(start)) + text,
  )
}
