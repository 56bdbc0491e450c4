/** Prompts for missing arguments and flags. */
import type { Interfaces } from '@oclif/core'
import type { Client } from '../../daemon/client/client.ts'
import type { Terminal } from './ask.ts'

/** The context of a question: the daemon, the values so far by name, and the terminal. */
export type Asking = {
  call: Client
  given: Readonly<Record<string, unknown>>
  terminal?: Terminal | undefined
}

/**
 * `ask` returns the missing arguments, `--name=value` for a flag. The question is skipped if one of `unless`
 * is given.
 */
export type Question = { unless?: readonly string[]; ask: (asking: Asking) => Promise<string[]> }

/** Questions by the name of the missing flag or argument, in the order of asking. */
export type Questions = Readonly<Record<string, Question>>

/**
 * Returns the arguments of a command, including the missing ones. Flags go before the typed words, because a
 * `--` may be among them. Arguments go after them.
 *
 * @throws {CommandError} 130 on Ctrl-C. @throws {UsageError} when there is nothing to choose from. @throws as
 * the daemon's client does.
 */
export async function askForMissing(
  questions: Questions,
  argv: readonly string[],
  asking: Asking,
): Promise<string[]> {
  const flags: string[] = []
  const rest: string[] = []
  const given: Record<string, unknown> = { ...asking.given }
  for (const [name, { unless = [], ask }] of Object.entries(questions)) {
    if ([name, ...unless].some((each) => isGiven(given[each]))) continue
    for (const piece of await ask({ ...asking, given })) {
      const flag = /^--([\w-]+)/.exec(piece)?.[1]
      if (flag === undefined) rest.push(piece)
      else flags.push(piece)
      given[flag ?? name] = piece
    }
  }
  // An answer replaces the empty value of a flag whose value was left out.
  const empty = flags.map((each) => each.replace(/=.*$/s, '='))
  return [...flags, ...argv.filter((word) => !empty.includes(word)), ...rest]
}

/** The arguments and flags that oclif parses. */
export type Rules = { args: Interfaces.ArgInput; flags: Interfaces.FlagInput }

/** Returns the rules with nothing required, so that the parser accepts a partial command line. */
export function withoutRules({ args, flags }: Rules): Rules {
  const free = {
    required: false,
    exactlyOne: undefined,
    dependsOn: undefined,
    exclusive: undefined,
    relationships: undefined,
  }
  const freed = <T extends object>(definitions: T) =>
    Object.fromEntries(Object.entries(definitions).map(([name, each]) => [name, { ...each, ...free }])) as T
  return { args: freed(args), flags: freed(flags) }
}

/** Formats a command line for a shell. */
export function typed(words: readonly string[]): string {
  return words
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`))
    .join(' ')
}

/** oclif sets absent switches to `false`. */
function isGiven(value: unknown): boolean {
  return value !== undefined && value !== false
}
