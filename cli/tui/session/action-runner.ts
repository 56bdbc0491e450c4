/** Runs actions, and their questions and pages. */
import { setTimeout as sleep } from 'node:timers/promises'
import { toReport } from '../../errors/report.ts'
import { CommandError } from '../../errors/errors.ts'
import type { ActionContext, ShownPage } from '../actions/action.ts'
import type { Daemon, Data } from '../data/data.ts'
import type { Store } from '../data/store.ts'
import type { Pane } from '../panes/pane.ts'
import type { Page } from './page.ts'
import type { Prompt } from './prompt.ts'
import { goTo, panes, type Ui } from './ui.ts'

/** Milliseconds between reloads of a page. */
const reloadMs = 1_000

/** Milliseconds that an action waits for its effect. */
const patienceMs = 60_000

type Options = {
  daemon: Daemon
  store: Store
  copy: (text: string) => void
  forSameDaemon: (command: string) => string
  get: () => Ui
  change: (next: Partial<Ui>) => void
  /** Aborts waiting actions. */
  signal: AbortSignal
}

/** Returns a function that runs one action at a time. The result of an action may change the available ones. */
export function createActionRunner({ daemon, store, copy, forSameDaemon, get, change, signal }: Options) {
  const ask = <Value>(make: (answer: (value: Value) => void) => Prompt): Promise<Value> =>
    new Promise((resolve) => change({ prompt: make(resolve), notice: undefined, isZoomed: false }))

  function showPage({ title, rows, reload, copied, send }: ShownPage): void {
    const id = Symbol(title)
    const isOpen = () => !signal.aborted && shown() !== undefined
    const shown = (): Page | undefined => {
      const { prompt } = get()
      return prompt?.kind === 'page' && prompt.id === id ? prompt : undefined
    }
    const amend = (more: Partial<Page>) => {
      const page = shown()
      if (page) change({ prompt: { ...page, ...more } })
    }
    let isStale = false
    const load = () =>
      reload?.().then(
        (rows) => {
          amend({ rows, ...(isStale && { problem: undefined }) })
          isStale = false
        },
        (error: unknown) => {
          amend({ problem: tell(error, forSameDaemon) })
          isStale = true
        },
      )
    const sendAll =
      send &&
      ((text: string) =>
        void send(text).then(load, (error: unknown) =>
          amend({ problem: tell(error, forSameDaemon), draft: shown()?.draft || text }),
        ))
    change({
      notice: undefined,
      prompt: {
        kind: 'page',
        id,
        title,
        rows,
        scroll: send ? Infinity : 0,
        copied,
        draft: send && '',
        send: sendAll,
      },
    })
    const follow = async () => {
      while (isOpen()) {
        await sleep(reloadMs, undefined, { signal }).catch(() => undefined)
        if (isOpen()) await load()
      }
    }
    if (reload) void follow()
  }

  const showCode: ActionContext['showCode'] = (link, isOpen) =>
    change({ prompt: { kind: 'qr', ...link, isOpen } })

  function showInvitation(pane: Pane<any>, item: unknown): void {
    const invitation = pane.invitation?.(item)
    if (!invitation) return
    const isOpen = (data: Data) => {
      const found = find(pane, item, data)
      return found !== undefined && pane.invitation?.(found) !== undefined
    }
    showCode(invitation, isOpen)
  }

  const context: ActionContext = {
    call: daemon.call,
    store,
    data: store.get,
    confirm: (question, lines = []) => ask((answer) => ({ kind: 'confirm', question, lines, answer })),
    choose: async (title, options, lines) =>
      (await ask<any>((answer) => ({ kind: 'choose', title, options, lines, at: 0, answer })))?.value,
    fill: (title, fields, { start = fields[0]?.name, note, check } = {}) =>
      ask((answer) => ({
        kind: 'fill',
        title,
        note,
        check,
        fields,
        at: fields.findIndex(({ name }) => name === start),
        answer,
      })),
    showInvitation,
    showCode,
    showNewInvitation: async (name, item) => {
      await context.until(
        'the new item is in the list',
        (data) => find(panes[name], item, data) !== undefined,
      )
      context.goTo(name)
      showInvitation(panes[name], item)
    },
    showPage,
    goTo: (pane) => change({ ...goTo(get(), pane), selected: { ...get().selected, [pane]: undefined } }),
    copy,
    say: (text) => change({ notice: { is: 'busy', text } }),
    until: (what, isSo) =>
      new Promise((resolve, reject) => {
        const end = (finish: () => void) => {
          unsubscribe()
          clearTimeout(timer)
          finish()
        }
        const check = () => isSo(store.get()) && end(resolve)
        const tooLong = () =>
          reject(new CommandError(`Timed out waiting until ${what}. The daemon continues.`, 6))
        const timer = setTimeout(() => end(tooLong), patienceMs)
        const unsubscribe = store.subscribe(check)
        signal.addEventListener('abort', () => end(() => reject(signal.reason as Error)), { once: true })
        check()
      }),
  }

  let isRunning = false
  return async (action: (context: ActionContext) => Promise<string | undefined>): Promise<void> => {
    if (isRunning) return
    isRunning = true
    try {
      const text = await action(context)
      change({ notice: text === undefined ? undefined : { is: 'good', text } })
    } catch (error) {
      if (!signal.aborted) change({ notice: { is: 'bad', text: tell(error, forSameDaemon) } })
    } finally {
      isRunning = false
    }
  }
}

/** Finds the current version of an item in the list of its pane. */
function find(pane: Pane<any>, item: unknown, data: Data): unknown {
  return pane.items(data).find((each) => pane.id(each) === pane.id(item))
}

/** Formats an error: title, detail and hint. */
function tell(error: unknown, forSameDaemon: Options['forSameDaemon']): string {
  const { title, detail, hint } = toReport(error, 'tui')
  const text = detail === undefined || detail === title ? title : `${title}: ${detail}`
  // A hint to run `agent tui` does not help here.
  return hint === undefined || /\btui\b/.test(hint)
    ? text
    : `${text}${/[.!?]$/.test(text) ? '' : '.'} Try: ${forSameDaemon(hint)}`
}
