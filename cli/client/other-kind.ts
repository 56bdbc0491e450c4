/** Ids that are given to a command for another kind of resource: what they are of, and which command shows it. */
import { type Client, ProblemError } from '../../daemon/client/client.ts'
import { isGuid } from '../input/registry.ts'
import { kindOf, type Kind } from '../input/kinds.ts'
import { type Item, readItems, type ResourceName, resources } from './resources.ts'

export type Other = { noun: string; id: string; command: string }

/** The newest of each list are searched. */
const query = { limit: 1_000, order: 'desc' } as const

/** Keys belong to a tenant, which the id does not name; DIDs are recognised by their form. */
const unlisted: readonly ResourceName[] = ['apiKey', 'did']

/** The resource of another kind that `isMeant` recognises. Undefined for none, or several. */
export async function findOther(
  asked: ResourceName,
  isMeant: (item: Item) => boolean,
  call: Client,
): Promise<Other | undefined> {
  const names = (Object.keys(resources) as ResourceName[]).filter(
    (name) => name !== asked && !unlisted.includes(name),
  )
  const found = await Promise.all(
    names.map(async (name) => {
      // A tenant may not read the lists of the administrator.
      const { items } = await readItems(name, call, query).catch(() => ({ items: [] }))
      return items.filter(isMeant).map(({ id }) => toOther(name, id))
    }),
  )
  const [only, ...more] = found.flat()
  return more.length === 0 ? only : undefined
}

function toOther(name: ResourceName, id: string): Other {
  const { noun, listCommand } = resources[name]
  return { noun, id, command: `${listCommand.replace(/ list\b.*$/, ' show')} ${id}` }
}

/** The kind of a value that names a resource by its id. */
export function resourceOf(...place: Parameters<typeof kindOf>): ResourceName | undefined {
  const kind: Kind | 'file' | undefined = kindOf(...place)
  return kind === 'file' || kind === 'profile' || kind === 'record' ? undefined : kind
}

/**
 * Adds to the daemon's 404 that an id of the command line is of another kind, with the command that shows it.
 * Other errors stay as they are.
 */
export async function withOther(
  error: unknown,
  id: string,
  { args, flags }: { args: object; flags: object },
  call: Client,
): Promise<unknown> {
  if (!(error instanceof ProblemError) || error.problem.status !== 404) return error
  const places = [
    ...Object.entries(args).map(([name, value]) => ({ kind: 'arg' as const, name, value: value as unknown })),
    ...Object.entries(flags).map(([name, value]) => ({
      kind: 'flag' as const,
      name,
      value: value as unknown,
    })),
  ]
  for (const { kind, name, value } of places) {
    const asked = resourceOf({ command: { id }, kind, name })
    if (asked === undefined || typeof value !== 'string' || !isGuid(value)) continue
    const text = value.toLowerCase()
    const other = await findOther(asked, (item) => item.id === text, call)
    if (!other) continue
    const detail = `${value} is the id of ${withArticle(other.noun)}, not of ${withArticle(resources[asked].noun)}.`
    return Object.assign(error, { hint: other.command, problem: { ...error.problem, detail } })
  }
  return error
}

export function withArticle(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`
}
