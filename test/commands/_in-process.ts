/**
 * A command in this process: the built program, evaluated anew for each run, which sees a process of its own. Nothing is shared between
 * two runs but the compiled code, and a run takes a tenth of what the start of a process takes.
 */
import { Console } from 'node:console'
import { EventEmitter } from 'node:events'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { Script } from 'node:vm'
import type { Outcome } from './_cli.ts'

const file = fileURLToPath(new URL('../../dist/commands.cjs', import.meta.url))
const root = fileURLToPath(new URL('../..', import.meta.url))
const given = ['exports', 'require', 'module', '__filename', '__dirname', 'process', 'console']
const realRequire = createRequire(file)

/** What is made once: the program, as a function of what a module is given and of the process, and what there is to know of it. */
let built: { program: (...values: unknown[]) => void; pjson: object; known: object } | undefined
const read = (path: string) => JSON.parse(readFileSync(root + path, 'utf8'))
const theBuilt = () =>
  (built ??= {
    program: new Script(`(function (${given.join(', ')}) {${readFileSync(file, 'latin1')}\n})`, { filename: file }).runInThisContext(),
    pjson: read('package.json'),
    known: read('oclif.manifest.json').commands,
  })

/** Thrown by `process.exit`, which does not return. */
class Exited extends Error {}

/**
 * Whether a command can be run here: what bin/agent.cjs answers itself, what is read from standard input, and what lives by its own
 * process cannot.
 */
export function runsInProcess(args: readonly string[], input?: string): boolean {
  const [first, second] = args
  const isOfProcess =
    ['help', 'complete', 'version', 'demo', 'tui'].includes(first ?? 'help') || (first === 'daemon' && second !== 'status')
  const readsInput = input !== undefined || args.some((arg) => /^(?:.*[@=:])?-$/.test(arg))
  return !isOfProcess && !readsInput && !args.some((arg) => ['--help', '--version', '-v'].includes(arg))
}

/** The id of the command that a command line names, or all of the line. */
export function commandOf(args: readonly string[]): string {
  const ids = args.map((_, last) => args.slice(0, last + 1).join(':'))
  return ids.findLast((id) => Object.hasOwn(theBuilt().known, id)) ?? args.join(' ')
}

/** Runs a command with an environment; resolves when it has said its last or has exited. */
export async function runInProcess(args: readonly string[], env: Record<string, string | undefined>): Promise<Outcome> {
  const { program, pjson } = theBuilt()
  const [stdout, stderr] = [collect(), collect()]
  const outcome = (code: number): Outcome => ({ code, out: stdout.text(), err: stderr.text() })
  let exitWith: (outcome: Outcome) => void
  const exited = new Promise<Outcome>((resolve) => (exitWith = resolve))
  const own = ownProcess({
    env: Object.fromEntries(Object.entries({ ...process.env, ...env }).filter(([, value]) => value !== undefined)),
    argv: [process.execPath, `${root}bin/agent.cjs`, ...args],
    stdin: Readable.from([]),
    stdout: stdout.stream,
    stderr: stderr.stream,
    exitCode: undefined,
    // What is written after it is not: a process is no more.
    exit(code?: number) {
      exitWith(outcome(code ?? own.exitCode ?? 0))
      throw new Exited()
    },
  })
  const module = { exports: {} as any }
  const ask = (name: string) => (name === file ? module.exports : /^(?:node:)?process$/.test(name) ? own : realRequire(name))
  const asked = Object.assign(ask, { resolve: realRequire.resolve, import: (name: string) => import(`${dirname(file)}/${name}`) })
  program(module.exports, asked, module, file, dirname(file), own, new Console(stdout.stream, stderr.stream))
  const { start, commands, handle } = module.exports
  const ended = start([...args], { root, pjson, commands })
    .catch((error: { oclif?: { exit: number } }) => {
      if (error instanceof Exited) throw error
      // As bin/agent.cjs.
      if (error.oclif?.exit === 127) error.oclif.exit = 2
      return handle(error)
    })
    .then(() => outcome(own.exitCode ?? 0))
    .catch((error: unknown) => (error instanceof Exited ? exited : Promise.reject(error)))
  return Promise.race([exited, ended])
}

/** The process as a command sees it: this one, but for what is given, and with listeners of its own. */
function ownProcess(given: Record<string, unknown>): any {
  const listeners = Object.getOwnPropertyDescriptors(EventEmitter.prototype)
  const values = Object.entries(given).map(([name, value]) => [name, { value, writable: true, configurable: true }])
  return Object.assign(Object.create(process, { ...listeners, ...Object.fromEntries(values) }), new EventEmitter())
}

/** A stream that keeps what is written, and its text without the last line's end, as execa gives it. */
function collect() {
  let text = ''
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, _, written) {
      text += String(chunk)
      written()
    },
  })
  return { stream, text: () => text.replace(/\r?\n$/, '') }
}
