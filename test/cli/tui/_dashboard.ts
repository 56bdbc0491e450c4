/** The dashboard on a screen in memory: keys go in, frames come out. */
import { setTimeout as sleep } from 'node:timers/promises'
import { render } from 'ink-testing-library'
import { plain, type Paint } from '../../../cli/format/colour.ts'
import { emptyData, type Daemon, type Data } from '../../../cli/tui/data/data.ts'
import type { Store } from '../../../cli/tui/data/store.ts'
import { createSession } from '../../../cli/tui/session/session.ts'
import { createReader } from '../../../cli/tui/terminal/keys.ts'
import type { Size } from '../../../cli/tui/session/ui.ts'
import { App } from '../../../cli/tui/view/app.tsx'

export type Dashboard = {
  /** The frame that is shown, without blanks at the ends of lines. */
  frame: () => string
  /** Types keys, each as the terminal sends it. */
  type: (...keys: string[]) => Promise<void>
  /** Types keys. `shows` waits for their effect. */
  after: (...keys: string[]) => Pick<Dashboard, 'shows'>
  resize: (size: Size) => Promise<void>
  /** Waits until the frame has a text, or none. */
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
  clock?: () => number
  renderings?: readonly ['small']
  forSameDaemon?: (command: string) => string
}

/** What terminals send for keys that are no characters. */
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

export function showDashboard(daemon: Daemon, store: Store, options: Options = {}): Dashboard {
  const {
    size = { columns: 80, rows: 24 },
    paint = plain,
    clock,
    renderings = ['small'],
    forSameDaemon = (command) => command,
  } = options
  const copied: string[] = []
  let quits = 0
  const session = createSession({
    daemon,
    store,
    size,
    copy: (text) => copied.push(text),
    forSameDaemon,
    quit: () => quits++,
    ...(clock && { clock }),
  })
  const { lastFrame, unmount } = render(
    <App
      session={session}
      looks={{ paint, renderings, where: ['local', 'http://agent.example'], isAscii: false, forSameDaemon }}
    />,
  )
  const read = createReader(session, 0)
  const frame = () => (lastFrame() ?? '').replaceAll(/ +$/gm, '')
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  const dashboard: Dashboard = {
    frame,
    async type(...keys) {
      for (const key of keys) {
        read(key)
        // A lone Esc differs from the start of a sequence only by the pause after it.
        if (key === codes.escape) await sleep(2)
        await settle()
        await settle()
      }
    },
    after: (...keys) => ({
      async shows(text) {
        await dashboard.type(...keys)
        return dashboard.shows(text)
      },
    }),
    async resize(next) {
      session.resize(next)
      await settle()
    },
    async shows(text) {
      for (let attempt = 0; attempt < 5_000; attempt++) {
        if (typeof text === 'string' ? frame().includes(text) : text.test(frame())) return frame()
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      throw new Error(`${String(text)} is not shown:\n${frame()}`)
    },
    copied,
    quits: () => quits,
    close() {
      unmount()
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
