/** What the bundle of the command line has beside the commands: its start, and what package.json names to oclif. */
import type { Command, Hook, Interfaces } from '@oclif/core'
import { Config, Plugin } from '@oclif/core/config'
import { run } from '@oclif/core/run'

export { handle } from '@oclif/core/handle'
export { default as Help } from './_help.ts'

/** Says which command may have been meant; loaded only then. */
export const notFound: Hook<'command_not_found'> = async function ({ config, id, argv }) {
  const { reportNotFound } = await import('./_errors/not-found.ts')
  reportNotFound(config, id, argv ?? [])
  this.exit(2)
}

type Program = {
  /** The folder of package.json, and what it holds. */
  root: string
  pjson: Interfaces.PJSON
  /** By their ids. */
  commands: Readonly<Record<string, Command.Class>>
}

/**
 * Runs a command line. Where it plainly names a command, that command is run at once, as oclif would after it has read what there is to
 * know of all of them; everything else, such as help and what is misspelt, is left to oclif.
 */
export async function start(argv: string[], { root, pjson, commands }: Program): Promise<unknown> {
  const options = { root, pjson, ...(process.env['DEBUG'] === undefined && { logger: silent }) }
  const named = findNamed(argv, commands)
  if (!named) return run(argv, options)
  const plugin = Object.assign(new Plugin(options), { name: pjson.name, root, pjson, commands: [], hooks: {} })
  const config = await Config.load({ ...options, plugins: new Map([[pjson.name, plugin]]) })
  return Object.assign(named.command, { id: named.id }).run(argv.slice(named.words), config)
}

/** The command that the first words are, if the others are its arguments or there are none. */
function findNamed(argv: readonly string[], commands: Program['commands']) {
  if (argv.includes('--help')) return undefined
  const flag = argv.findIndex((arg) => arg.startsWith('-') || arg.includes('='))
  const given = flag === -1 ? argv : argv.slice(0, flag)
  const words = given.findLastIndex((_, last) => Object.hasOwn(commands, given.slice(0, last + 1).join(':'))) + 1
  const id = given.slice(0, words).join(':')
  // Help is about all commands, and with colons in a word oclif counts the words otherwise.
  if (words === 0 || id === 'help' || id.split(':').length !== words) return undefined
  const command = commands[id]!
  const takesWords = Object.keys(command.args).length > 0 || !command.strict
  return given.length === words || takesWords ? { id, command, words } : undefined
}

/** oclif's own talk, which is loaded for `DEBUG` only. */
const silent: Interfaces.Logger = {
  namespace: 'oclif',
  child: () => silent,
  debug: () => undefined,
  error: () => undefined,
  info: () => undefined,
  trace: () => undefined,
  warn: () => undefined,
}
