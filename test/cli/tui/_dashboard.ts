/** The dashboard without a terminal: keys go in, frames come out. */
import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises'
import { renderToString } from 'ink'
import { createElement } from 'react'
import { plain, type Paint } from '../../../cli/format/colour.ts'
import { emptyData, type Daemon, type Data } from '../../../cli/tui/data/data.ts'
import type { Store } from '../../../cli/tui/data/store.ts'
import { createSession, type Session } from '../../../cli/tui/session/session.ts'
import { createReader } from '../../../cli/tui/terminal/keys.ts'
import type { Size } from '../../../cli/tui/session/ui.ts'
import { App, type Looks } from '../../../cli/tui/view/app.tsx'
import { toAscii } from '../../../cli/tui/view/text.tsx'

export type Dashboard = {
  session: Session
  looks: Looks
  /** Draws the current frame, once for each state, without blanks at the ends of lines. */
  frame: () => string
  /** Types keys, each as the terminal sends it. */
  type: (...keys: string[]) => Promise<void>
  /** Types keys. `shows` waits for their effect. */
  after: (...keys: string[]) => Pick<Dashboard, 'shows'>
  resize: (size: Size) => void
  /** Waits until the frame has a text. */
  shows: (text: string | RegExp) => Promise<string>
  /** What was put on the clipboard. */
  copied: string[]
  /** How often the dashboard was left. */
  quits: () => number
  close: () => void
}

export type Options = {
  size?: Size
  paint?: Paint
  /** As for screen readers: no frames, and ASCII characters. */
  isPlain?: boolean
  clock?: () => number
  renderings?: readonly ['small']
  forSameDaemon?: (command: string) => string
}

/** What terminals send for keys that are not characters. */
export const codes = {
  up: '\u001b[A',
  down: '\u001b[B',
  right: '\u001b[C',
  left: '\u001b[D',
  end: '\u001b[F',
  pageUp: '\u001b[5~',
  pageDown: '\u001b[6~',
  shiftTab: '\u001b[Z',
  tab: '\t',
  enter: '\r',
  escape: '\u001b',
  backspace: '\u007f',
  ctrlC: '\u0003',
} as const

/** As a terminal sends what is pasted. */
export const pasted = (text: string) => ['\u001b[200~', text, '\u001b[201~']

/** Milliseconds after which a frame that does not come ends its test. */
const hangsMs = 60_000

/** Opens the dashboard. Frames are computed when a test asks for them. */
export function showDashboard(daemon: Daemon, store: Store, options: Options = {}): Dashboard {
  const {
    size = { columns: 80, rows: 24 },
    paint = plain,
    isPlain = false,
    clock,
    renderings = ['small'],
    forSameDaemon = (command) => command,
  } = options
  const looks = {
    paint,
    renderings,
    where: ['local', 'http://agent.example'],
    forSameDaemon,
  }
  const copied: string[] = []
  let quits = 0
  const session = createSession({
    daemon,
    store,
    size,
    isPlain,
    copy: (text) => copied.push(text),
    forSameDaemon,
    quit: () => quits++,
    ...(clock && { clock }),
  })
  const read = createReader(session, 0)
  let drawn: { of: unknown; frame: string } | undefined
  const frame = () => {
    const of = session.get()
    if (drawn?.of === of) return drawn.frame
    const shown = renderToString(createElement(App, { session, looks }), { columns: of.ui.size.columns })
    drawn = { of, frame: isPlain ? toAscii(shown) : shown }
    return drawn.frame
  }
  /** Waits for the next change of the session, or for the limit. */
  const change = (limit: AbortSignal) =>
    new Promise<void>((resolve) => {
      const end = () => {
        unsubscribe()
        limit.removeEventListener('abort', end)
        resolve()
      }
      const unsubscribe = session.subscribe(end)
      limit.addEventListener('abort', end)
    })
  const dashboard: Dashboard = {
    session,
    looks,
    frame,
    async type(...keys) {
      for (const key of keys) {
        read(key)
        // The reader waits a millisecond for the rest of a sequence. Its timer is older, and fires first.
        if (key === codes.escape) await sleep(1)
        // The session resumes an action before it takes the next key.
        await immediate()
      }
    },
    after: (...keys) => ({
      async shows(text) {
        await dashboard.type(...keys)
        return dashboard.shows(text)
      },
    }),
    resize: session.resize,
    async shows(text) {
      const limit = AbortSignal.timeout(hangsMs)
      for (;;) {
        const shown = frame()
        if (typeof text === 'string' ? shown.includes(text) : text.test(shown)) return shown
        if (limit.aborted) throw new Error(`${String(text)} is not shown:\n${shown}`)
        await change(limit)
      }
    },
    copied,
    quits: () => quits,
    close() {
      session.close()
      store.close()
    },
  }
  return dashboard
}

/** A store of plain data, and a daemon with prepared answers that records its calls. */
export function recorded(first: Data = emptyData, answers: Readonly<Record<string, unknown>> = {}) {
  const asked: [key: string, input: unknown][] = []
  const listeners = new Set<() => void>()
  let data = first
  const set = (next: Data) => {
    data = next
    for (const listener of listeners) listener()
  }
  const call = (key: string, input: unknown) => {
    asked.push([key, input])
    const answer = answers[key]
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)
  }
  const store: Store = {
    get: () => data,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    reload: () => Promise.resolve(),
    reloadDids: () => Promise.resolve(),
    reloadWebhooks: () => Promise.resolve(),
    amend: (change) => set({ ...data, ...change(data) }),
    close: () => undefined,
  }
  const daemon = { call, open: () => Promise.reject(new Error('there is no stream')) } as unknown as Daemon
  return { daemon, store, asked, set }
}
