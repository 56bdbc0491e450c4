/** Runs the dashboard and restores the terminal at its end. It is a bundle of its own (`dist/tui.js`). */
import { render } from 'ink'
import { colour, hasColours, uncoloured } from '../format/colour.ts'
import { isUtf8, renderingsFor } from '../qr/draw.ts'
import type { Daemon } from './data/data.ts'
import { openStore } from './data/store.ts'
import { createSession } from './session/session.ts'
import type { Size } from './session/ui.ts'
import { createReader } from './terminal/keys.ts'
import { openScreen, type Screen } from './terminal/screen.ts'
import { App, type Looks } from './view/app.tsx'
import { toAscii, maxColumns } from './view/text.tsx'

export type Options = {
  daemon: Daemon
  /** The name of the profile. Undefined if only the address of the daemon is known. */
  profile: string | undefined
  /** The address of the daemon. */
  url: string
  /** No frames, and words instead of symbols, for screen readers. */
  isPlain: boolean
  /** Adds the profile of the dashboard to a suggested command. */
  forSameDaemon: (command: string) => string
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const errors = ['uncaughtException', 'unhandledRejection'] as const

/**
 * Shows the dashboard until the user quits or a signal arrives. Returns the signal.
 *
 * @throws {ProblemError} @throws {DaemonUnreachable} when the first requests fail, before anything is drawn
 * @throws errors of the dashboard, after the terminal is restored
 */
export async function start(options: Options): Promise<NodeJS.Signals | undefined> {
  const { daemon, isPlain, forSameDaemon } = options
  const { stdin, stdout } = process
  const [store, tenant] = await Promise.all([openStore(daemon), tenantOf(daemon)])
  const size = () => sizeOf(stdout)
  // Raw mode first: in cooked mode Ctrl-Z would suspend without restoring the screen.
  stdin.setRawMode(true)
  const screen = openScreen({ size, write: (text) => stdout.write(text) })
  let end: (signal?: NodeJS.Signals) => void = () => undefined
  let fail: (error: unknown) => void = () => undefined
  const ended = new Promise<NodeJS.Signals | undefined>(
    (resolve, reject) => ([end, fail] = [resolve, reject]),
  )
  const suspend = () => {
    screen.leave()
    stdin.setRawMode(false)
    process.once('SIGCONT', () => {
      stdin.setRawMode(true)
      screen.enter()
      session.resize(size())
    })
    process.kill(process.pid, 'SIGTSTP')
  }
  const session = createSession({
    daemon,
    store,
    size: size(),
    isPlain,
    copy: screen.copy,
    forSameDaemon,
    quit: () => end(),
    suspend,
  })
  for (const signal of signals) process.on(signal, end)
  process.on('exit', screen.leave)
  for (const event of errors) process.on(event, fail)
  const stopFollowing = followSize(stdout, () => {
    screen.forget()
    session.resize(size())
  })
  const read = createReader(session)
  // An earlier question has paused it.
  stdin.setEncoding('utf8').on('data', read).resume()
  const looks = looksOf(options, tenant)
  const app = render(
    <App session={session} looks={looks} {...(isPlain && { placeCursor: screen.point })} />,
    {
      stdin,
      stdout: toCanvas(screen, () => size().columns, isPlain || !isUtf8(process.env)),
      debug: true,
      exitOnCtrlC: false,
      patchConsole: false,
    },
  )
  // Ink reports errors of the view here.
  app.waitUntilExit().catch(fail)
  try {
    return await ended
  } finally {
    screen.leave()
    stdin.setRawMode(false)
    stdin.off('data', read).pause()
    stopFollowing()
    session.close()
    store.close()
    app.unmount()
    for (const signal of signals) process.off(signal, end)
    for (const event of errors) process.off(event, fail)
  }
}

/** Milliseconds after the last change of the size, in which a window that is dragged changes it often. */
const resizeMs = 20

/** Calls a function after changes of the size. Returns a function that stops this. */
function followSize(stdout: NodeJS.WriteStream, change: () => void): () => void {
  let timer: NodeJS.Timeout | undefined
  const resize = () => {
    clearTimeout(timer)
    timer = setTimeout(change, resizeMs)
  }
  stdout.on('resize', resize)
  return () => {
    stdout.off('resize', resize)
    clearTimeout(timer)
  }
}

/** The largest size that is drawn. */
const largest = { columns: maxColumns, rows: 300 }

/** Returns the size of a terminal, or 80×24 if it reports none. */
function sizeOf({ columns, rows }: Partial<Size>): Size {
  return { columns: Math.min(columns || 80, largest.columns), rows: Math.min(rows || 24, largest.rows) }
}

/** Returns what the terminal shows, and what the header names. */
function looksOf({ profile, url, forSameDaemon }: Options, tenant: string | undefined): Looks {
  const names = [profile, tenant === profile ? undefined : tenant, url]
  return {
    paint: hasColours(process.stdout) ? colour(process.stdout) : uncoloured,
    renderings: renderingsFor('small'),
    where: names.filter((each) => each !== undefined),
    forSameDaemon,
  }
}

/** Returns the name of the wallet. Undefined if the daemon does not tell. */
async function tenantOf({ call }: Daemon): Promise<string | undefined> {
  const { contents } = await call('GET /wallets', { query: { limit: 1 } }).catch(() => ({ contents: [] }))
  return contents[0]?.name
}

/** Returns the stream that Ink writes whole frames to. The screen draws the lines that differ. */
function toCanvas({ draw }: Screen, columns: () => number, isAscii: boolean): NodeJS.WriteStream {
  const canvas = {
    get columns() {
      return columns()
    },
    write: (frame: string) => draw(isAscii ? toAscii(frame) : frame),
    on: () => canvas,
    off: () => canvas,
  }
  return canvas as unknown as NodeJS.WriteStream
}
