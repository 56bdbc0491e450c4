/** Runs the dashboard and restores the terminal at its end. It is a bundle of its own (`dist/tui.js`). */
import { render } from 'ink'
import { colour } from '../format/colour.ts'
import { renderingsFor } from '../qr/draw.ts'
import type { Daemon } from './data/data.ts'
import { openStore } from './data/store.ts'
import { createSession } from './session/session.ts'
import { createReader } from './terminal/keys.ts'
import { openScreen, type Screen } from './terminal/screen.ts'
import { App } from './view/app.tsx'

export type Options = {
  daemon: Daemon
  /** The profile and the daemon, for the header. */
  where: string
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
export async function start({ daemon, where, forSameDaemon }: Options): Promise<NodeJS.Signals | undefined> {
  const { stdin, stdout } = process
  const store = await openStore(daemon)
  // Some terminals report no size.
  const size = () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 })
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
    copy: screen.copy,
    forSameDaemon,
    quit: () => end(),
    suspend,
  })
  const resize = () => {
    screen.forget()
    session.resize(size())
  }
  for (const signal of signals) process.on(signal, end)
  process.on('exit', screen.leave)
  for (const event of errors) process.on(event, fail)
  stdout.on('resize', resize)
  const read = createReader(session)
  // Ink's reader loses Esc if a character follows in the same chunk.
  stdin.setEncoding('utf8').on('data', read)
  const app = render(
    <App
      session={session}
      looks={{ paint: colour(stdout), renderings: renderingsFor('small'), where, forSameDaemon }}
    />,
    {
      stdin,
      stdout: toCanvas(screen, () => size().columns),
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
    stdout.off('resize', resize)
    session.close()
    store.close()
    app.unmount()
    for (const signal of signals) process.off(signal, end)
    for (const event of errors) process.off(event, fail)
  }
}

/** Returns the stream that Ink writes whole frames to. The screen draws the lines that differ. */
function toCanvas({ draw }: Screen, columns: () => number): NodeJS.WriteStream {
  const canvas = {
    get columns() {
      return columns()
    },
    write: draw,
    on: () => canvas,
    off: () => canvas,
  }
  return canvas as unknown as NodeJS.WriteStream
}
