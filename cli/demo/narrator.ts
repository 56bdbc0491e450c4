/** Prints the demo: steps, calls and state changes. Records it as an asciicast v2 file (docs.asciinema.org). */
import { closeSync, openSync, writeSync } from 'node:fs'
import { styleText } from 'node:util'
import type { Client } from '../../daemon/client/client.ts'
import { meanings } from '../format/states.ts'
import { pad } from '../format/text.ts'
import { drawQr, type Screen } from '../qr/draw.ts'
import type { Change } from './changes.ts'
import { cliLine, curlLine, quote, type Caller, type Input } from './calls.ts'
import type { Viewer } from './flow.ts'
import type { Name } from './party.ts'
import { UsageError } from '../errors/errors.ts'
import { systemReason } from '../../src/base/system-reason.ts'

export type Narrator = Viewer & {
  say: (text: string) => void
  change: (change: Change) => void
  /** Prints a value and assigns it to a shell variable. */
  name: (variable: string, value: string) => void
  /** Same for a key. Shows only its beginning, unless the daemons keep running. */
  nameSecret: (variable: string, value: string) => void
  /** Wraps a client so that its calls are printed. */
  watch: (client: Client, caller: Caller) => Client
}

/** Prints nothing. */
export const silent: Narrator = {
  say: () => {},
  step: () => {},
  invitation: () => {},
  change: () => {},
  name: () => {},
  nameSecret: () => {},
  watch: (client) => client,
}

const colours = { acme: 'cyan', alice: 'magenta' } as const satisfies Record<Name, string>
const shownOfSecret = 6

/**
 * Creates a narrator. With `isKept` the daemons keep running, so values are printed in full for copying. Without
 * `hasCurl` it prints commands alone.
 */
export function createNarrator(
  print: (text: string) => void,
  {
    isTerminal,
    isColoured,
    isKept,
    hasCurl,
    screen,
  }: { isTerminal: boolean; isColoured: boolean; isKept: boolean; hasCurl: boolean; screen: Screen },
): Narrator {
  const names = new Map<string, string>()
  let steps = 0
  const styled = (format: Parameters<typeof styleText>[0], text: string) =>
    isColoured ? styleText(format, text, { validateStream: false }) : text
  const signed = (who: Name) => styled(colours[who], pad(who, 6))
  const name = (variable: string, value: string, shown: string) => {
    names.set(value, variable)
    print(`   ${styled('dim', `${variable}=${shown}`)}`)
  }
  return {
    say: print,
    step: (title) => print(`\n${styled('bold', `${++steps}. ${title}`)}`),
    change: ({ who, what, state }) => {
      const words = what === 'did' ? undefined : meanings[what][state]?.words
      print(
        `   ${signed(who)} ${pad(what, 11)} ${words === undefined ? state : `${pad(state, 27)} ${styled('dim', words)}`}`,
      )
    },
    name: (variable, value) => name(variable, value, /\s/.test(value) ? quote(value) : value),
    nameSecret: (variable, value) =>
      name(variable, value, isKept ? value : `${value.slice(0, shownOfSecret)}…`),
    invitation: (url) => {
      names.set(new URL(url).searchParams.get('_oob')!, 'INVITATION')
      const qr = isTerminal ? drawQr(url, screen) : { reason: 'standard output is not a terminal' }
      print('lines' in qr ? qr.lines.join('\n') : `   No QR code: ${qr.reason}.`)
      print(`   ${url}\n   ${styled('dim', 'INVITATION=<what follows _oob= in the URL>')}`)
    },
    watch: (client, caller) =>
      ((key: string, input: Input = {}) => {
        const command = cliLine(key, input, caller.base.toLowerCase(), names)
        if (command !== undefined) print(`   $ ${command}`)
        if (hasCurl) print(`   ${styled('dim', `$ ${curlLine(key, input, caller, names)}`)}`)
        return (client as unknown as (key: string, input: Input) => unknown)(key, input)
      }) as Client,
  }
}

export type Recording = {
  /** Adds a printed text, including its line break. */
  print(text: string): void
  close(): void
}

type TerminalSize = { columns?: number | undefined; rows?: number | undefined }

/** The size that players assume. */
const [usualColumns, usualRows] = [80, 24]

/** Starts a recording in a new file. Writes synchronously, so that the recording of a failed demo is complete. @throws {UsageError} */
export function startRecording(
  path: string,
  title: string,
  { columns = usualColumns, rows = usualRows }: TerminalSize,
): Recording {
  let file: number
  try {
    file = openSync(path, 'wx', 0o644)
  } catch (error) {
    throw new UsageError(`--record: ${path} is not writable: ${systemReason(error)}. It must be a new file.`)
  }
  const write = (value: unknown) => writeSync(file, `${JSON.stringify(value)}\n`)
  const start = performance.now()
  write({ version: 2, width: columns, height: rows, timestamp: Math.floor(Date.now() / 1_000), title })
  return {
    print(text) {
      const seconds = Math.round((performance.now() - start) * 1_000) / 1_000_000
      // A terminal in raw mode needs a carriage return before a line feed.
      write([seconds, 'o', `${text}\n`.replaceAll('\n', '\r\n')])
    },
    close: () => closeSync(file),
  }
}
