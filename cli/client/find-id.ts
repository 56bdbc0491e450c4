/**
 * Finds the thing that an argument means: by its id, by the beginning or the end of the id, or by its name. An id as a whole costs no
 * request.
 */
import type { Client } from '../../daemon/client/client.ts'
import { CommandError, UsageError } from '../errors/errors.ts'
import { safeLine } from '../format/safe.ts'
import { meanings } from '../format/states.ts'
import { isGuid } from '../input/registry.ts'
import { readThings, type Kind, type Thing } from './resources.ts'

const pageSize = 1_000
/** How many pages of a list are searched, the newest first. */
const mostPages = 10
const mostCandidates = 10
/** Fewer characters than these are no part of an id. */
const shortestPart = 4

type Words = { name: string; list: string; by?: string }

/** How a kind of thing is called, the command that lists it, and the name that things of the kind have beside the id. */
const words: Record<Kind, Words> = {
  apiKey: { name: 'key', list: 'agent tenant key list <tenant>', by: 'name' },
  challenge: { name: 'challenge', list: 'agent auth list' },
  connection: { name: 'connection', list: 'agent connection list', by: 'label' },
  creddef: { name: 'credential definition', list: 'agent creddef list', by: 'name' },
  credential: { name: 'credential record', list: 'agent credential list' },
  definition: { name: 'presentation definition', list: 'agent presentation-definition list', by: 'name' },
  did: { name: 'DID', list: 'agent did list' },
  didRequest: { name: 'DID request', list: 'agent onboard list' },
  policy: { name: 'policy', list: 'agent policy list', by: 'name' },
  proof: { name: 'presentation record', list: 'agent proof list' },
  schema: { name: 'schema', list: 'agent schema list', by: 'name' },
  tenant: { name: 'tenant', list: 'agent tenant list', by: 'name' },
  wallet: { name: 'wallet', list: 'agent wallet list', by: 'name' },
  webhook: { name: 'webhook', list: 'agent webhook list' },
}

/** True for a text that needs no search: an id, a DID, or a URL where one may stand for an id. */
export function isWhole(kind: Kind, text: string): boolean {
  return (kind !== 'did' && isGuid(text)) || /^(?:did|https?):/i.test(text)
}

/**
 * The id of the thing of a kind that a text means.
 *
 * @throws {CommandError} 3 when there is none. @throws {UsageError} when several have it, or it can be no part of an id.
 */
export async function findId(
  kind: Kind,
  text: string,
  call: Client,
  given: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  if (isWhole(kind, text)) return text
  const part = text.replaceAll(/^(?:…|\.{3})|(?:…|\.{3})$/g, '')
  const { name, list, by } = words[kind]
  const isPart = part.length >= shortestPart && (kind === 'did' ? /^[\w.-]+$/ : /^[0-9a-f-]+$/i).test(part)
  if (!isPart && by === undefined)
    throw new UsageError(`${JSON.stringify(text)} is no id of a ${name}. ${formOf(kind)}`, list)
  const found: Thing[] = []
  let isAll = false
  for (let pages = 0; pages < mostPages && !isAll; pages += 1) {
    const query = { limit: pageSize, offset: pages * pageSize, order: 'desc' } as const
    const { things, hasMore } = await readThings(kind, call, query, given)
    found.push(...things.filter((thing) => isMeant(kind, thing, text, isPart ? part : undefined)))
    isAll = !hasMore
  }
  const among = isAll ? '' : ` among the newest ${mostPages * pageSize}`
  const [first, ...more] = preferred(kind, found)
  if (!first)
    throw new CommandError(`There is no ${name} ${JSON.stringify(text)}${among}. ${formOf(kind)}`, 3, list)
  if (more.length > 0) throw ambiguous(name, text, [first, ...more], list)
  return first.value
}

function isMeant(kind: Kind, { value, names = [] }: Thing, text: string, part: string | undefined): boolean {
  if (names.some((name) => name.toLowerCase() === text.toLowerCase())) return true
  if (part === undefined) return false
  if (kind === 'did') return value.endsWith(part)
  const small = part.toLowerCase()
  return value.startsWith(small) || value.endsWith(small)
}

/** Of connections with one label those that are made, if there are any: an invitation keeps its label when it is not accepted. */
function preferred(kind: Kind, found: Thing[]): Thing[] {
  const made =
    kind === 'connection' ? found.filter(({ state = '' }) => meanings.connection[state]?.ends === 0) : []
  return made.length > 0 ? made : found
}

function formOf(kind: Kind): string {
  const { by } = words[kind]
  const id =
    kind === 'did' ? 'a DID, such as did:prism:…' : 'its id, such as 01a20725-6f2b-7d4e-8c15-b0f3a2917c3d'
  return `Name ${kind === 'did' ? '' : 'it by '}${id}, ${by === undefined ? '' : `its ${by}, `}or at least ${shortestPart} characters ${kind === 'did' ? 'of its end' : 'of the end of the id'}.`
}

function ambiguous(name: string, text: string, found: readonly Thing[], list: string): UsageError {
  const lines = found
    .slice(0, mostCandidates)
    .map(({ value, about, state }) => `  ${value}  ${[about, state].filter(Boolean).join(', ')}`)
  const rest = found.length > mostCandidates ? [`  and ${found.length - mostCandidates} more`] : []
  return new UsageError(
    [`Several ${plural(name)} fit ${JSON.stringify(text)}:`, ...lines, ...rest].map(safeLine).join('\n'),
    list,
  )
}

function plural(name: string): string {
  return name.endsWith('y') && !name.endsWith('ey') ? `${name.slice(0, -1)}ies` : `${name}s`
}
