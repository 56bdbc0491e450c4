/** The entry points of the command line’s bundle: start, help, and the hooks that package.json names. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command as OclifCommand, Hook, Interfaces } from '@oclif/core'
import type { Plugin } from '@oclif/core/config'
import { arrange } from './argv.ts'
import type { Command } from './define-command.ts'
import { reportCrash } from './errors/report.ts'

export { reportCrash } from './errors/report.ts'
export { default as Help } from './help.ts'

/** Suggests a similar command. */
export const notFound: Hook<'command_not_found'> = async function ({ config }) {
  const { reportNotFound } = await import('./errors/parsing.ts')
  const flag = line.findIndex((arg) => arg.startsWith('-'))
  reportNotFound(config, line.slice(0, flag === -1 ? undefined : flag), line)
  this.exit(2)
}

/** The command line. oclif splits its words at colons, of which DIDs have several. */
let line: string[] = []

type Program = {
  /** The folder of package.json, and its content. */
  root: string
  pjson: Interfaces.PJSON
  /** By id. */
  commands: Readonly<Record<string, Command>>
}

/**
 * Runs a command line. A line that names a command is run directly. oclif handles the rest, such as help and
 * unknown commands, for which it loads the manifest.
 */
export async function start(given: string[], program: Program): Promise<unknown> {
  const { root, pjson, commands } = program
  const crash = (error: Error) => reportCrash(error, given)
  process.on('uncaughtException', crash)
  // A reader that has seen enough, such as `head`, closes the pipe.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => error.code === 'EPIPE' || crash(error))
  for (const stream of [process.stdout, process.stderr]) giveSize(stream)
  const end = given.indexOf('--')
  const isPlain = (arg: string, index: number) => arg === '--no-color' && (end === -1 || index < end)
  if (given.some(isPlain)) {
    process.env['NO_COLOR'] = '1'
    // Node.js warns of two variables that contradict each other.
    delete process.env['FORCE_COLOR']
  }
  const argv = arrange(
    given.filter((arg, index) => !isPlain(arg, index)),
    Object.keys(commands),
  )
  line = argv
  const named = findNamed(argv, commands)
  if (named) return commands[named.id]!.run(argv.slice(named.words), named.id)
  const { run } = await import('@oclif/core/run')
  return run(argv, { root, pjson, plugins: new Map([[pjson.name, await toPlugin(program)]]) })
}

/**
 * Describes the program as a plugin of oclif. oclif itself would sort the commands by locale, for which V8
 * loads its tables of languages.
 */
async function toPlugin(program: Program): Promise<Plugin> {
  const { root, pjson } = program
  const { Plugin } = await import('@oclif/core/config')
  return Object.assign(new Plugin({ root }), {
    name: pjson.name,
    version: pjson.version,
    root,
    pjson,
    commands: readCommands(program),
    hooks: pjson.oclif.hooks as Plugin['hooks'],
  })
}

/** Reads the descriptions of all commands, for help and suggestions. */
function readCommands({ root, commands }: Program): OclifCommand.Loadable[] {
  const { commands: descriptions }: Interfaces.Manifest = JSON.parse(
    readFileSync(join(root, 'oclif.manifest.json'), 'utf8'),
  )
  const load = (id: string) => ({ ...commands[id]!, run: (argv: string[]) => commands[id]!.run(argv, id) })
  return Object.values(descriptions).map((each) => ({
    ...each,
    // The command `help` is a class of oclif.
    load: async () =>
      (each.id === 'help' ? commands[each.id]! : load(each.id)) as unknown as OclifCommand.Class,
  }))
}

/** Sets 80×24 as the size of a terminal that reports 0×0, as under `docker run -t` and `script`. */
function giveSize(stream: NodeJS.WriteStream): void {
  if (!stream.isTTY) return
  stream.columns ||= 80
  stream.rows ||= 24
}

/** Finds the command that the first words name, if the remaining words can be its arguments. */
function findNamed(argv: readonly string[], commands: Program['commands']) {
  if (argv.includes('--help')) return undefined
  const flag = argv.findIndex((arg) => arg.startsWith('-') || arg.includes('='))
  const given = flag === -1 ? argv : argv.slice(0, flag)
  const words =
    given.findLastIndex((_, last) => Object.hasOwn(commands, given.slice(0, last + 1).join(':'))) + 1
  const id = given.slice(0, words).join(':')
  // Help is about all commands, and with colons in a word oclif counts the words otherwise.
  if (words === 0 || id === 'help' || id.split(':').length !== words) return undefined
  const takesWords = Object.keys(commands[id]!.args).length > 0
  return given.length === words || takesWords ? { id, words } : undefined
}
