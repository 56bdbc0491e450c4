/** Actions on an item: a key, its label, and the steps. Copying and tracing are shared by every pane. */
import type { Daemon, Data } from '../data/data.ts'
import type { Store } from '../data/store.ts'
import type { PaneName } from '../panes/pane.ts'
import { wrap, type Row } from '../session/details.ts'
import type { Field, Option } from '../session/prompt.ts'
import { shorten, widthOf } from '../../format/text.ts'
import { traceText } from '../../trace/text.ts'

/** The context of an action: the daemon, the data and the screen. Questions return undefined on Esc; the action then stops. */
export type Desk = {
  call: Daemon['call']
  data: () => Data
  store: Pick<Store, 'reloadDids' | 'reloadWebhooks' | 'amend'>
  confirm: (question: string, lines?: readonly string[]) => Promise<boolean>
  choose: <Value>(title: string, options: readonly Option<Value>[]) => Promise<Value | undefined>
  /** Asks for the values of fields, starting at the field `start`. `check` throws for invalid values. */
  fill: (
    title: string,
    fields: readonly Field[],
    more?: { start?: string; note?: string; check?: (values: Record<string, string>) => void },
  ) => Promise<Record<string, string> | undefined>
  /** Shows an invitation as a QR code while `isOpen`. */
  showQr: (title: string, url: string, isOpen: (data: Data) => boolean) => void
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

export type Action = {
  key: string
  /** Its label in the line of keys. */
  word: string
  /** Hidden in the line of keys, because another key has the same action. */
  isAlias?: boolean
  /** Runs the action. Returns the message for the user, or undefined if they cancelled. */
  run: (desk: Desk) => Promise<string | undefined>
}

/** Characters of the copied text in the message. */
const mostShown = 80

/** `y` copies the id, or the URL of an open invitation. `Y` always copies the id. */
export function copying(what: string, id: string, url?: string): Action[] {
  return [
    copy('y', url === undefined ? what : 'URL', url ?? id),
    ...(url === undefined ? [] : [copy('Y', what, id)]),
  ]
}

function copy(key: string, what: string, text: string): Action {
  return {
    key,
    word: `copy ${what}`,
    run: (desk) => {
      desk.copy(text)
      return Promise.resolve(
        `Copied the ${what}, if the terminal lets programs copy (OSC 52): ${shorten(text, mostShown, 'middle')}`,
      )
    },
  }
}

/** `T` shows and follows the trace of a thread or a DID. No action without one. */
export function tracing(id: string | undefined): Action[] {
  return id === undefined ? [] : [{ key: 'T', word: 'trace', run: (desk) => showTrace(desk, id) }]
}

async function showTrace(desk: Desk, id: string): Promise<undefined> {
  const load = async () => {
    const trace = await desk.call('GET /traces/{id}', { path: { id } })
    return (columns: number): Row[] =>
      traceText(trace, { now: Date.now() })
        .split('\n')
        .flatMap((line) => fit(line, columns - 1))
        .map((text, index) => [{ text, style: index === 0 ? 'strong' : undefined }])
  }
  desk.say('Loading the trace …')
  desk.showPage({ title: 'Trace', rows: await load(), reload: load, copied: id })
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
