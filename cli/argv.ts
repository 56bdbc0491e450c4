/**
 * Rewrites a command line for oclif: global flags move behind the command, and the value of some flags may
 * be left out.
 */

import { withoutAlias } from './tree.ts'

/** The global flags with a value, and those without. */
const valued = ['--profile', '-p', '--url', '--api-key-file', '--admin-key-file']
const switches = ['--json', '--quiet', '-q', '--no-trunc']

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

/**
 * The properties of a flag whose value may be left out. `next` is what a value in the next word looks like;
 * by default a value is in the same word, after `=`.
 */
export const optionalValue = (name: string, next = /^(?!)/) => ({ helpValue: `[${name}]`, next })

type Flag = { type: string; helpValue?: string | string[] | undefined; next?: unknown }

export function hasOptionalValue(flag: Flag | undefined): boolean {
  return typeof flag?.helpValue === 'string' && flag.helpValue.startsWith('[')
}

/** Gives a bare flag an empty value if it may be left out: oclif requires one for every flag that can have it. */
export function spellOut(argv: readonly string[], flags: Readonly<Record<string, Flag>>): string[] {
  const end = argv.indexOf('--')
  return argv.map((arg, index) => {
    const flag = arg.startsWith('--') && (end === -1 || index < end) ? flags[arg.slice(2)] : undefined
    if (!hasOptionalValue(flag)) return arg
    return (flag!.next as RegExp).test(argv[index + 1] ?? '') ? arg : `${arg}=`
  })
}

/** Stands for an empty value while oclif parses: where a flag needs another one, it takes '' for missing. */
export const emptyMark = '\u0000'

/** Replaces the empty values of flags whose value may be left out by `emptyMark`. */
export function markEmpty(argv: readonly string[], flags: Readonly<Record<string, Flag>>): string[] {
  const end = argv.indexOf('--')
  return argv.map((arg, index) => {
    const isEmpty = asTyped([arg], flags)[0] !== arg && (end === -1 || index < end)
    return isEmpty ? `${arg}${emptyMark}` : arg
  })
}

/** The inverse of `spellOut`: the arguments as a person types them. */
export function asTyped(argv: readonly string[], flags: Readonly<Record<string, Flag>>): string[] {
  return argv.map((arg) => {
    const name = /^--([\w-]+)=$/.exec(arg)?.[1]
    return name !== undefined && hasOptionalValue(flags[name]) ? `--${name}` : arg
  })
}
