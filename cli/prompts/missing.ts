/** The one way in which a command asks for what it was not given. */
import type { Interfaces } from '@oclif/core'
import type { Client } from '../../daemon/client/client.ts'
import type { Terminal } from './ask.ts'

/** What a question can use: the daemon, what was given so far, by name, and where to ask. */
export type Asking = {
  call: Client
  given: Readonly<Record<string, unknown>>
  terminal?: Terminal | undefined
}

/** `ask` makes the arguments that were missing: `--name=value` for a flag. It is not asked when one of `unless` is given. */
export type Question = { unless?: readonly string[]; ask: (asking: Asking) => Promise<string[]> }

/** By the name of the flag or the argument that is missing, in the order in which they are asked. */
export type Questions = Readonly<Record<string, Question>>

/**
 * The arguments of a command, with those that were missing. Flags come before what was typed, where no `--` hides them, and arguments
 * after it.
 *
 * @throws {CommandError} 130 on Ctrl-C. @throws {UsageError} when there is nothing to choose from. @throws as the daemon's client does.
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
  return [...flags, ...argv, ...rest]
}

/** What a command takes, with nothing of it required, so that the parser says what there is. */
export function withoutRules<T extends Interfaces.Input<any, any, any>>(options: T): T {
  const free = (definitions: Readonly<Record<string, object>> = {}) =>
    Object.fromEntries(
      Object.entries(definitions).map(([name, each]) => {
        const rules = {
          required: false,
          exactlyOne: undefined,
          dependsOn: undefined,
          exclusive: undefined,
          relationships: undefined,
        }
        return [name, { ...each, ...rules }]
      }),
    )
  const { flags, args, baseFlags, enableJsonFlag } = options
  return { flags: free(flags), args: free(args), baseFlags: free(baseFlags), enableJsonFlag } as unknown as T
}

/** A command line as it can be typed into a shell. */
export function typed(words: readonly string[]): string {
  return words
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`))
    .join(' ')
}

/** A switch that was not given is `false` to oclif. */
function isGiven(value: unknown): boolean {
  return value !== undefined && value !== false
}
