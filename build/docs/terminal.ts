/** Runs a command in a pseudo-terminal. */
import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Terminal } from '@xterm/headless'
import { linesOf, newScreen, write, type Size } from './recorder/screen.ts'

/**
 * Runs a shell command in a pseudo-terminal of util-linux `script`. `keys` are typed one after the other,
 * each after the output was quiet. Resolves with the screen at that time, and ends the command. `onPrint`
 * gets the output as it comes.
 */
export async function runInTerminal(
  command: string,
  { columns, rows }: Size,
  env: NodeJS.ProcessEnv,
  keys?: readonly string[],
  onPrint: (text: string) => void = () => {},
): Promise<Terminal> {
  const screen = newScreen({ columns, rows })
  const line = `stty columns ${columns} rows ${rows} && exec ${command}`
  const child = spawn('script', ['--quiet', '--return', '--command', line, '/dev/null'], { env })
  const decoder = new TextDecoder()
  let [writes, changed] = [Promise.resolve(), performance.now()]
  child.stdout.on('data', (chunk: Uint8Array) => {
    changed = performance.now()
    onPrint(decoder.decode(chunk, { stream: true }))
    writes = writes.then(() => write(screen, chunk))
  })
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  if (keys === undefined) {
    const code = await ended
    if (code !== 0) throw new Error(`${command} ended with ${code}:\n${screenText(screen)}`)
  } else {
    for (const key of ['', ...keys]) {
      child.stdin.write(key)
      changed = performance.now()
      while (performance.now() - changed < quietMs) await sleep(quietMs / 4)
    }
  }
  await writes
  child.kill()
  return screen
}

const quietMs = 1_200

const screenText = (screen: Terminal) =>
  linesOf(screen)
    .map((runs) => runs.map(({ text }) => text).join(''))
    .join('\n')
