/** What a command prints: data on standard output, messages and suggestions on standard error. */
import { colour, type Paint } from './format/colour.ts'
import { forSameDaemon, type Identity } from './format/next.ts'
import { fold, safeJson, shortenDids } from './format/text.ts'
import { fields, table, type Column } from './format/table.ts'

export type Pair = readonly [name: string, value: unknown]

export type Output = {
  /** True with `--json`: standard output carries the value that `run` returns, and nothing else. */
  isJson: boolean
  /** True with `--quiet`: commands print ids only. */
  isQuiet: boolean
  /** Columns of the terminal; undefined when standard output is not one, and with `--no-trunc`. */
  width: number | undefined
  paint: Paint
  /** Prints a line on standard output; nothing with `--json`. */
  log: (text?: string) => void
  /** Prints a JSON document on standard output, before the one that `run` returns. */
  logJson: (value: unknown) => void
  /** Prints a message on standard error, with short DIDs in a terminal; nothing with `--json`. */
  say: (text: string) => void
  /** Prints a message on standard error, also with `--json`. */
  sayError: (text: string) => void
  /** Prints a message if a person reads standard error. */
  sayAtTerminal: (text: string) => void
  /** Prints one result: its id with `--quiet`, otherwise its fields, of which the id is whole. */
  print: (id: string, pairs: readonly Pair[]) => void
  /** Prints fields, whatever `--quiet` says. */
  printFields: (pairs: readonly Pair[]) => void
  /** Prints rows: ids with `--quiet`, otherwise a table. Prints `empty` on standard error when there are none. */
  printList: <Row>(
    rows: readonly Row[],
    id: (row: Row) => string,
    columns: readonly Column<Row>[],
    empty: string,
  ) => void
  suggest: (...commands: (string | undefined)[]) => void
  /** Adds the flags that choose the daemon and the key of this command to another command. */
  forSameDaemon: (command: string) => string
}

type OutputFlags = Identity & { quiet?: boolean; 'no-trunc'?: boolean }

export function createOutput(
  isJson: boolean,
  { quiet = false, 'no-trunc': isWhole = false, ...identity }: OutputFlags,
): Output {
  const width = process.stdout.isTTY && !isWhole ? process.stdout.columns : undefined
  const paint = colour(process.stdout)
  const log = (text = '') => void (isJson || process.stdout.write(`${text}\n`))
  const sayError = (text: string) => {
    const { isTTY, columns } = process.stderr
    process.stderr.write(`${fold(text, isTTY && !isWhole ? columns : undefined)}\n`)
  }
  const write = (text: string) => void (isJson || sayError(text))
  const say = (text: string) => write(process.stderr.isTTY && !isWhole ? shortenDids(text) : text)
  return {
    isJson,
    isQuiet: quiet,
    width,
    paint,
    log,
    logJson: (value) => void process.stdout.write(`${safeJson(value)}\n`),
    say,
    sayError,
    sayAtTerminal: (text) => {
      if (process.stderr.isTTY && !quiet) say(text)
    },
    print: (id, pairs) => log(quiet ? id : fields(pairs, width, paint, id)),
    printFields: (pairs) => log(fields(pairs, width, paint)),
    printList: (rows, id, columns, empty) => {
      if (rows.length === 0) say(empty)
      else log(quiet ? rows.map(id).join('\n') : table(rows, columns, width, paint))
    },
    suggest: (...commands) => {
      const given = commands.filter((each) => each !== undefined)
      if (given.length > 0 && !quiet)
        write(['', 'Next:', ...given.map((each) => `  ${forSameDaemon(each, identity)}`)].join('\n'))
    },
    forSameDaemon: (command) => forSameDaemon(command, identity),
  }
}
