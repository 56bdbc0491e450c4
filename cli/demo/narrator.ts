/** Prints the demo: steps, calls and state changes. Records it as an asciicast v2 file (docs.asciinema.org). */
import { closeSync, openSync, writeSync } from 'node:fs'
import { styleText } from 'node:util'
import type { Client } from '../../daemon/client/client.ts'
import { meanings } from '../format/states.ts'
import { pad } from '../format/text.ts'
import { drawQr, type Screen } from '../prompts/qr.ts'
import type { Change } from './changes.ts'
import { cliLine, curlLine, quote, type Caller, type Input } from './calls.ts'
import type { Viewer } from './flow.ts'
import type { Name } from './party.ts'
import { UsageError } from '../errors/errors.ts'
import { systemReason } from '../../src/base/reason.ts'

export type Narrator = Viewer & {
  say: (text: string) => void
  change: (change: Change) => void
  /** Names a value, which stands in a variable from now on. */
  name: (variable: string, value: string) => void
  /** Names a key likewise; of one that nobody can use later only the beginning is shown. */
  nameSecret: (variable: string, value: string) => void
  /** The same client, whose calls are shown. */
  watch: (client: Client, caller: Caller) => Client
}

/** Says nothing. */
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

/** Makes a narrator. `isKept` says that the daemons go on, so that values are to be copied and are shown whole. */
export function createNarrator(
  print: (text: string) => void,
  {
    isTerminal,
    isColoured,
    isKept,
    screen,
  }: { isTerminal: boolean; isColoured: boolean; isKept: boolean; screen: Screen },
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
      const qr = isTerminal ? drawQr(url, screen) : { reason: 'this is no terminal' }
      print('lines' in qr ? qr.lines.join('\n') : `   No QR code: ${qr.reason}.`)
      print(`   ${url}\n   ${styled('dim', 'INVITATION=<what follows _oob= in the URL>')}`)
    },
    watch: (client, caller) =>
      ((key: string, input: Input = {}) => {
        const command = cliLine(key, input, caller.base.toLowerCase(), names)
        if (command !== undefined) print(`   $ ${command}`)
        print(`   ${styled('dim', `$ ${curlLine(key, input, caller, names)}`)}`)
        return (client as unknown as (key: string, input: Input) => unknown)(key, input)
      }) as Client,
  }
}

export type Recording = {
  /** Notes what is printed now, a line break at its end included. */
  print(text: string): void
  close(): void
}

export type TerminalSize = { columns?: number | undefined; rows?: number | undefined }

/** What players assume as well. */
const [usualColumns, usualRows] = [80, 24]

/** Begins a recording in a new file. Each moment is on the disk when it is over, so that a demonstration that fails can be watched. @throws {UsageError} */
export function startRecording(
  path: string,
  title: string,
  { columns = usualColumns, rows = usualRows }: TerminalSize,
): Recording {
  let file: number
  try {
    file = openSync(path, 'wx', 0o644)
  } catch (error) {
    throw new UsageError(
      `--record: ${path} cannot be written: ${systemReason(error)}. It must be a new file.`,
    )
  }
  const write = (value: unknown) => writeSync(file, `${JSON.stringify(value)}\n`)
  const start = performance.now()
  write({ version: 2, width: columns, height: rows, timestamp: Math.floor(Date.now() / 1_000), title })
  return {
    print(text) {
      const seconds = Math.round((performance.now() - start) * 1_000) / 1_000_000
      // A terminal goes to the start of the line only when it is told to.
      write([seconds, 'o', `${text}\n`.replaceAll('\n', '\r\n')])
    },
    close: () => closeSync(file),
  }
}
