/** Starts the dashboard, and gives the terminal back however it ends. A bundle of its own (`dist/tui.js`): other commands load none of it. */
import { render } from 'ink'
import { colour } from '../format/colour.ts'
import { renderingsFor } from '../prompts/qr.ts'
import type { Daemon } from './data/data.ts'
import { openStore } from './data/store.ts'
import { createSession } from './session/session.ts'
import { createReader } from './terminal/keys.ts'
import { openScreen } from './terminal/screen.ts'
import { App } from './view/app.tsx'

export type Options = {
  daemon: Daemon
  /** Whose wallet is shown, in words. */
  where: string
  /** Gives a suggested command the profile that the dashboard was started with. */
  forSameDaemon: (command: string) => string
}

/**
 * Shows the dashboard until the person quits, or a signal ends it: the signal is returned.
 *
 * @throws {ProblemError} @throws {DaemonUnreachable} before anything is drawn, when the daemon refuses or is not there.
 * @throws whatever went wrong in it, once the terminal is given back.
 */
export async function start({ daemon, where, forSameDaemon }: Options): Promise<NodeJS.Signals | undefined> {
  const { stdin, stdout } = process
  const store = await openStore(daemon)
  // There are terminals that do not say how large they are.
  const size = () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 })
  // Before the screen is taken: until then Ctrl-Z is a signal, after which the screen would not be given back.
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
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.on(signal, end)
  process.on('exit', screen.leave)
  process.on('uncaughtException', fail)
  process.on('unhandledRejection', fail)
  stdout.on('resize', resize)
  // Ink draws nothing by itself: each of its frames goes to the screen as a whole, which knows what differs.
  const canvas = {
    get columns() {
      return size().columns
    },
    write: screen.draw,
    on: () => canvas,
    off: () => canvas,
  }
  const read = createReader(session)
  // Ink's own reader loses the Esc key when a character follows in the same chunk.
  stdin.setEncoding('utf8').on('data', read)
  const app = render(
    <App
      session={session}
      looks={{ paint: colour(stdout), renderings: renderingsFor('small'), where, forSameDaemon }}
    />,
    {
      stdin,
      stdout: canvas as unknown as NodeJS.WriteStream,
      debug: true,
      exitOnCtrlC: false,
      patchConsole: false,
    },
  )
  // Of a view that fails, Ink tells here.
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
    process.off('uncaughtException', fail)
    process.off('unhandledRejection', fail)
  }
}
