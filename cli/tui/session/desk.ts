/** Runs actions, and their questions and pages. */
import { setTimeout as sleep } from 'node:timers/promises'
import { toReport } from '../../errors/report.ts'
import { CommandError } from '../../errors/errors.ts'
import type { Action, Desk, ShownPage } from '../actions/action.ts'
import type { Daemon } from '../data/data.ts'
import type { Store } from '../data/store.ts'
import type { Page } from './page.ts'
import type { Prompt } from './prompt.ts'
import { goTo, type Ui } from './ui.ts'

/** Milliseconds between reloads of a page. */
const reloadMs = 1_000

/** Milliseconds that an action waits for its effect. */
const patienceMs = 60_000

type Given = {
  daemon: Daemon
  store: Store
  copy: (text: string) => void
  forSameDaemon: (command: string) => string
  get: () => Ui
  change: (next: Partial<Ui>) => void
  /** Aborts waiting actions. */
  signal: AbortSignal
}

/** Returns the desk and a function that runs one action at a time. The result of an action may change the available ones. */
export function openDesk({ daemon, store, copy, forSameDaemon, get, change, signal }: Given): {
  desk: Desk
  run: (action: Pick<Action, 'run'>) => Promise<void>
} {
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

  const desk: Desk = {
    call: daemon.call,
    store,
    data: store.get,
    confirm: (question, lines = []) => ask((answer) => ({ kind: 'confirm', question, lines, answer })),
    choose: async (title, options) =>
      (await ask<any>((answer) => ({ kind: 'choose', title, options, at: 0, answer })))?.value,
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
    showQr: (title, url, isOpen) => change({ prompt: { kind: 'qr', title, url, isOpen } }),
    showPage,
    goTo: (pane) => change({ ...goTo(get(), pane), selected: { ...get().selected, [pane]: undefined } }),
    copy,
    say: (text) => change({ notice: { is: 'busy', text } }),
    until: (what, isSo) =>
      new Promise((resolve, reject) => {
        const end = (settle: () => void) => {
          leave()
          clearTimeout(timer)
          settle()
        }
        const look = () => isSo(store.get()) && end(resolve)
        const tooLong = () =>
          reject(new CommandError(`Timed out waiting until ${what}. The daemon continues.`, 6))
        const timer = setTimeout(() => end(tooLong), patienceMs)
        const leave = store.subscribe(look)
        signal.addEventListener('abort', () => end(() => reject(signal.reason as Error)), { once: true })
        look()
      }),
  }

  let isRunning = false
  async function run({ run }: Pick<Action, 'run'>): Promise<void> {
    if (isRunning) return
    isRunning = true
    try {
      const text = await run(desk)
      change({ notice: text === undefined ? undefined : { is: 'good', text } })
    } catch (error) {
      if (!signal.aborted) change({ notice: { is: 'bad', text: tell(error, forSameDaemon) } })
    } finally {
      isRunning = false
    }
  }

  return { desk, run }
}

/** Formats an error: title, detail and hint. */
function tell(error: unknown, forSameDaemon: Given['forSameDaemon']): string {
  const { title, detail, hint } = toReport(error, 'tui')
  const said = detail === undefined || detail === title ? title : `${title}: ${detail}`
  // A hint to run `agent tui` does not help here.
  return hint === undefined || /\btui\b/.test(hint)
    ? said
    : `${said}${/[.!?]$/.test(said) ? '' : '.'} Try: ${forSameDaemon(hint)}`
}
