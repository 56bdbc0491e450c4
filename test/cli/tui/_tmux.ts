/** Terminals in tmux: programs run in them as for a person, and what is on the screen is read. */
import { execFileSync, spawnSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'

/** Whether there is a tmux here. */
export const hasTmux = spawnSync('tmux', ['-V']).status === 0

export type Terminal = {
  screen: () => string
  /** As `screen`, with the escape sequences of its colours. */
  coloured: () => string
  /** Waits until the screen has a text. */
  shows: (text: string | RegExp) => Promise<string>
  /** Presses keys, by the names that tmux has for them. */
  press: (...keys: string[]) => void
  /** Presses keys. `shows` waits for their effect. */
  after: (...keys: string[]) => Pick<Terminal, 'shows'>
  /** Pastes what a program in any of the terminals has put on the clipboard last; the first time waits for it. */
  paste: () => Promise<void>
  resize: (columns: number, rows: number) => void
  /** The id of the program's process. */
  pid: () => number
  /** A value by tmux's name for it, such as `cursor_flag`. */
  is: (name: string) => string
}

/** A tmux server of the test's own. */
export function startTmux() {
  const socket = `identity-agent-${process.pid}-${Math.random().toString(36).slice(2)}`
  const tmux = (...args: string[]) =>
    execFileSync('tmux', ['-L', socket, '-u', '-f', '/dev/null', ...args], { encoding: 'utf8' })
  let count = 0
  // A server ends with its last session: this one is for its settings, which the others must find.
  tmux('new-session', '-d', '-s', 'settings', 'sleep 3600')
  tmux('set-option', '-g', 'set-clipboard', 'on')

  return {
    /** Runs a program in a terminal; `exit` and its code are on the screen when it has ended. */
    open(
      args: readonly string[],
      env: Readonly<Record<string, string>>,
      { columns, rows } = { columns: 80, rows: 24 },
    ): Terminal {
      const name = `t${++count}`
      const variables = Object.entries(env).flatMap(([key, value]) => ['-e', `${key}=${value}`])
      tmux(
        'new-session',
        '-d',
        '-s',
        name,
        '-x',
        String(columns),
        '-y',
        String(rows),
        ...variables,
        '--',
        'sh',
        '-c',
        '"$@"; echo "exit $?"; exec sleep 600',
        'sh',
        ...args,
      )
      const is = (what: string) => tmux('display-message', '-p', '-t', name, `#{${what}}`).trim()
      const screen = () => tmux('capture-pane', '-p', '-t', name)
      const terminal: Terminal = {
        screen,
        coloured: () => tmux('capture-pane', '-p', '-e', '-t', name),
        async shows(text) {
          for (let attempt = 0; attempt < 300; attempt++) {
            const shown = screen()
            if (typeof text === 'string' ? shown.includes(text) : text.test(shown)) return shown
            // Each look is a process, so a long wait looks seldom.
            await sleep(Math.min(50 + 10 * attempt, 250))
          }
          throw new Error(`${String(text)} is not on the screen:\n${screen()}`)
        },
        press: (...keys) => void tmux('send-keys', '-t', name, ...keys),
        after(...keys) {
          terminal.press(...keys)
          return terminal
        },
        async paste() {
          // A program copies by way of the terminal, which takes time. An earlier text would be pasted
          // instead.
          for (let attempt = 0; attempt < 1_200 && tmux('list-buffers') === ''; attempt++) await sleep(50)
          tmux('paste-buffer', '-d', '-p', '-t', name)
        },
        resize: (columns, rows) =>
          void tmux('resize-window', '-t', name, '-x', String(columns), '-y', String(rows)),
        pid: () => childOf(is('pane_pid')),
        is,
      }
      return terminal
    },
    [Symbol.dispose]: () => void tmux('kill-server'),
  }
}

/** The process that another one has started. */
function childOf(parent: string): number {
  const processes = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n')
  return Number(processes.map((line) => line.trim().split(/\s+/)).find(([, ppid]) => ppid === parent)![0])
}
