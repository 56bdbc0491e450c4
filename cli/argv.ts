/**
 * Rewrites a command line for oclif: global flags move behind the command, and `--wait`, `--lan` and
 * `--oid4vci` may have no value.
 */

import { withoutAlias } from './tree.ts'

/** The global flags with a value, and those without. */
const valued = ['--profile', '-p', '--url', '--api-key-file', '--admin-key-file']
const switches = ['--json', '--quiet', '-q']

/**
 * Moves leading global flags behind the words of the command, and replaces `-h` by `--help` and aliases by
 * their commands. Arguments after `--` stay.
 */
export function arrange(argv: readonly string[], ids: readonly string[]): string[] {
  const end = argv.indexOf('--')
  const before = argv.slice(0, end === -1 ? undefined : end).map((arg) => (arg === '-h' ? '--help' : arg))
  const count = Math.min(leadingFlags(before), before.length)
  const [flags, rest] = [before.slice(0, count), withoutAlias(before.slice(count))]
  const words = wordsOf(rest, ids)
  return [...rest.slice(0, words), ...flags, ...rest.slice(words), ...argv.slice(before.length)]
}

/** Counts the leading global flags and their values. Counts one more if the last value is missing. */
export function leadingFlags(argv: readonly string[]): number {
  let count = 0
  while (count < argv.length) {
    const [name = ''] = argv[count]!.split('=')
    const isWhole = switches.includes(argv[count]!) || (valued.includes(name) && name !== argv[count])
    if (!isWhole && !valued.includes(name)) break
    count += isWhole ? 1 : 2
  }
  return count
}

/** Counts the words of the command. For an unknown command these are all words before the first flag. */
function wordsOf(argv: readonly string[], ids: readonly string[]): number {
  const flag = argv.findIndex((arg) => arg.startsWith('-'))
  const words = argv.slice(0, flag === -1 ? undefined : flag)
  const known = words.findLastIndex((_, last) => ids.includes(words.slice(0, last + 1).join(':'))) + 1
  return known || words.length
}

/** Flags whose value may be missing, and what their value in the next word looks like. */
const optional: Readonly<Record<string, RegExp>> = {
  '--wait': /^(?!)/,
  '--lan': /^(?:\d|off$|auto$)/,
  '--oid4vci': /^[\da-f-]{4,36}$/i,
}

/** Gives a bare flag of these an empty value: oclif requires a value for every flag that can have one. */
export function spellOut(argv: readonly string[]): string[] {
  const end = argv.indexOf('--')
  return argv.map((arg, index) => {
    const value = end === -1 || index < end ? optional[arg] : undefined
    return value && !value.test(argv[index + 1] ?? '') ? `${arg}=` : arg
  })
}

/** The inverse of `spellOut`: the arguments as a person types them. */
export function asTyped(argv: readonly string[]): string[] {
  return argv.map((arg) => arg.replace(/^(--(?:wait|lan|oid4vci))=$/, '$1'))
}
