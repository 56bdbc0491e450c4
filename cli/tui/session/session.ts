/** The controller of the dashboard: its state, and the effects of keys. */
import { setImmediate as immediate } from 'node:timers/promises'
import { actionsOf, type ActionContext } from '../actions/action.ts'
import { create } from '../actions/new.ts'
import { openIdLinkKind } from '../../qr/link.ts'
import { acceptInvitation } from '../actions/invitation.ts'
import { findConnection, unknownConnection } from '../actions/shared.ts'
import type { CredentialRecord, Daemon, Data, Did } from '../data/data.ts'
import { createContents, type Contents } from '../data/contents.ts'
import type { Store } from '../data/store.ts'
import { contentKey } from '../panes/credentials.ts'
import { answer, lineOf, paste, type Prompt } from './prompt.ts'
import { editCommand, keysOf, refusalOf, type CommandLine } from './commands.ts'
import { createActionRunner } from './action-runner.ts'
import { detailsOf } from './details.ts'
import { layoutOf, selectionOf, start, type Size, type Ui } from './ui.ts'
import { move } from './move.ts'

export type Snapshot = { data: Data; ui: Ui; contents: Contents }

export type Session = {
  /** The current state, a new object after each change. */
  get: () => Snapshot
  subscribe: (listener: () => void) => () => void
  press: (key: string) => void
  paste: (text: string) => void
  resize: (size: Size) => void
  close: () => void
}

type SessionOptions = {
  daemon: Daemon
  store: Store
  size: Size
  isPlain?: boolean
  /** Copies a text to the clipboard. */
  copy: (text: string) => void
  /** Adds the profile of the dashboard to a suggested command. */
  forSameDaemon: (command: string) => string
  quit: () => void
  /** Suspends the dashboard and restores the terminal meanwhile. */
  suspend?: () => void
  clock?: () => number
}

/** Milliseconds before the contents of a selection are loaded, and before an event's deliveries are. */
const contentsMs = 120
const deliveriesMs = 300

/** Milliseconds between updates of ages: if an item is younger than two minutes, and otherwise. */
const youngMs = 5_000
const oldMs = 60_000

export function createSession({
  daemon,
  store,
  size,
  isPlain = false,
  copy,
  forSameDaemon,
  quit,
  suspend,
  clock = Date.now,
}: SessionOptions): Session {
  const ending = new AbortController()
  const listeners = new Set<() => void>()
  const timers: Partial<Record<'contents' | 'age' | 'deliveries', NodeJS.Timeout>> = {}
  let ui = start(size, clock(), isPlain)
  const contents = createContents(daemon, () => change({}))
  let snapshot: Snapshot = { data: store.get(), ui, contents }
  let lastEvent = store.get().events.at(-1)?.id

  function change(next: Partial<Ui>): void {
    ui = closeQr({ ...ui, ...next }, store.get())
    snapshot = { data: store.get(), ui, contents }
    clearTimeout(timers.contents)
    timers.contents = setTimeout(loadContents, contentsMs)
    for (const listener of listeners) listener()
  }

  const run = createActionRunner({
    daemon,
    store,
    copy,
    forSameDaemon,
    get: () => ui,
    change,
    signal: ending.signal,
  })

  /** Loads the contents of the selection. */
  function loadContents(): void {
    const { data } = snapshot
    const { item, pane } = selectionOf(data, ui)
    if (item === undefined) return
    if (ui.pane === 'credentials') {
      const { recordId, credential } = item as CredentialRecord
      if (credential !== undefined) contents.askCredential(contentKey(item as CredentialRecord), recordId)
    }
    if (ui.pane === 'dids') contents.askDid(item as Did)
    const record = unknownConnection(pane, item, data)
    if (record) quietly(findNoConnection(record.thid))
    const thread = pane.thread?.(item)
    if (thread !== undefined && data.hasOlderEvents) contents.askEvents(thread)
  }

  const searched = new Set<string>()
  /** Finds out, once for each record, if it was exchanged without a connection. */
  async function findNoConnection(thid: string): Promise<void> {
    if (searched.has(thid)) return
    searched.add(thid)
    const found = await findConnection({ call: daemon.call, data: store.get }, { thid })
    if (!found) store.amend(({ unconnected }) => ({ unconnected: [...unconnected, thid] }))
  }

  function updateAges(): void {
    const last = store.get().events.at(-1)
    const isYoung = last !== undefined && clock() - Date.parse(last.ts) < 2 * 60_000
    timers.age = setTimeout(
      () => {
        change({ now: clock() })
        updateAges()
      },
      isYoung ? youngMs : oldMs,
    )
  }

  let isLive = true
  const unsubscribe = store.subscribe(() => {
    const wasLive = isLive
    isLive = store.get().link.is === 'live'
    // Reload what failed while the daemon was away.
    if (isLive && !wasLive) contents.forget()
    change({ now: clock() })
    const last = store.get().events.at(-1)?.id
    // The pane of webhooks shows the deliveries of each event.
    if (last !== lastEvent && ui.pane === 'webhooks') {
      clearTimeout(timers.deliveries)
      timers.deliveries = setTimeout(() => quietly(store.reloadWebhooks()), deliveriesMs)
    }
    lastEvent = last
  })

  /** Returns the number of lines of the details. */
  function detailLines(): number {
    const { data } = snapshot
    const { pane, item } = selectionOf(data, ui)
    if (item === undefined) return 0
    const { lines, aside } = detailsOf(pane, item, { data, now: ui.now, contents }, layoutOf(ui))
    return Math.max(lines.length, aside.length)
  }

  function press(key: string): Promise<void> | void {
    if (key === 'ctrl-z') return suspend?.()
    if (ui.prompt) return pressAt(ui.prompt, key)
    if (key === 'q' || key === 'ctrl-c') return quit()
    const { data } = snapshot
    const { pane, item } = selectionOf(data, ui)
    const moved = move(data, ui, key, detailLines())
    if (moved) return navigate(moved)
    if (key === 'R') return void run(reload)
    if (key === 'n') return void run(create)
    const action =
      item === undefined ? undefined : actionsOf(pane, item, data).find((each) => each.key === key)
    if (action) return void run((context) => action.run(context, item))
    const text = refusalOf(key, ui.pane, item)
    if (text !== undefined) change({ notice: { is: 'bad', text } })
  }

  function pressAt(prompt: Prompt, key: string): Promise<void> | void {
    if (prompt.kind === 'command') return pressAtCommand(prompt, key)
    if (prompt.kind === 'qr' && key === 'y') return copy(prompt.isLong ? prompt.longUrl : prompt.url)
    if (prompt.kind === 'page' && prompt.copied !== undefined && key === 'y') return copy(prompt.copied)
    const { ui: next, after } = answer(ui, key)
    change(next)
    if (!after) return
    after()
    // Resume the action first: the next key may answer its next question.
    return immediate()
  }

  function pressAtCommand(prompt: CommandLine, key: string): void {
    const { data } = snapshot
    const { line, run: entered } = editCommand(data, ui, prompt, key)
    if (entered === undefined) return change({ prompt: line })
    change({ prompt: undefined, history: [...ui.history, entered] })
    const keys = keysOf(data, ui, entered)
    if ('reason' in keys) return change({ notice: { is: 'bad', text: keys.reason } })
    inputs.unshift(...keys.map((each) => () => press(each)))
  }

  function pasteText(text: string): void {
    if (ui.prompt?.kind === 'command')
      return change({ prompt: { ...ui.prompt, text: ui.prompt.text + lineOf(text) } })
    if (ui.prompt?.kind === 'fill') change({ prompt: paste(ui.prompt, text) })
    else if (ui.prompt?.kind === 'page' && ui.prompt.draft !== undefined)
      change({ prompt: { ...ui.prompt, draft: ui.prompt.draft + lineOf(text) } })
    else if (ui.prompt?.kind === 'filter')
      change({ filters: { ...ui.filters, [ui.pane]: (ui.filters[ui.pane] ?? '') + lineOf(text) } })
    else if (!ui.prompt && (/[?&]_oob(?:id)?=/.test(text) || openIdLinkKind(text)))
      void run((context) => acceptInvitation(context, text.trim()))
  }

  const inputs: (() => Promise<void> | void)[] = []
  let isReading = false
  /** Handles keys and pastes in order. A terminal may send several at once. */
  async function handle(input: () => Promise<void> | void): Promise<void> {
    inputs.push(input)
    if (isReading) return
    isReading = true
    try {
      for (let next = inputs.shift(); next; next = inputs.shift()) await next()
    } finally {
      isReading = false
    }
  }

  /** Reloads DIDs and webhooks when their pane opens, because their creation has no event. */
  function navigate(next: Ui): void {
    const isElsewhere = next.pane !== ui.pane
    change(next)
    if (isElsewhere && next.pane === 'dids') quietly(store.reloadDids())
    if (isElsewhere && next.pane === 'webhooks') quietly(store.reloadWebhooks())
  }

  async function reload(context: ActionContext): Promise<string> {
    context.say('Reloading …')
    contents.forget()
    await store.reload()
    return 'Reloaded.'
  }

  change({})
  updateAges()
  return {
    get: () => snapshot,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    press: (key) => void handle(() => press(key)),
    paste: (text) => void handle(() => pasteText(text)),
    resize: (size) => change({ size }),
    close() {
      unsubscribe()
      ending.abort()
      for (const timer of Object.values(timers)) clearTimeout(timer)
    },
  }
}

/** Closes the QR code of an answered invitation. */
function closeQr(ui: Ui, data: Data): Ui {
  if (ui.prompt?.kind !== 'qr' || ui.prompt.isOpen(data)) return ui
  return { ...ui, prompt: undefined, notice: { is: 'good', text: 'The invitation is answered.' } }
}

/** Ignores errors: the link shows them, or the request is repeated. */
function quietly(request: Promise<void>): void {
  request.catch(() => undefined)
}
