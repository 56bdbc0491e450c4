/**
 * Finds the id of a resource that an argument names: by the id, by the beginning or the end of the id, or by
 * its name. A complete id costs no request.
 */
import type { Client } from '../../daemon/client/client.ts'
import { usualMethod } from '../../src/definitions/did-names.ts'
import { hasOptionalValue } from '../argv.ts'
import { CommandError, UsageError } from '../errors/errors.ts'
import { safeLine } from '../format/text.ts'
import { isConnected } from '../format/states.ts'
import { isGuid } from '../input/registry.ts'
import type { Rules } from '../prompts/missing.ts'
import { findOther, resourceOf, withArticle } from './other-kind.ts'
import { type Item, readItems, type ResourceName, resources } from './resources.ts'

const pageSize = 1_000
/** The number of pages that are searched, the newest first. */
const maxPages = 10
const maxCandidates = 10
/** The shortest text that is searched for in ids. */
const minPartLength = 4

type Values = Readonly<Record<string, unknown>>

/**
 * Replaces every argument and flag that names a resource by its id.
 *
 * @param command its id as oclif has it, such as `credential:accept`, and its rules.
 * @throws as `findId`.
 */
export async function resolveIds(
  command: { id: string; rules: Rules },
  { args, flags }: { args: Record<string, unknown>; flags: Record<string, unknown> },
  call: Client,
): Promise<void> {
  const places = [
    { kind: 'arg', values: args },
    { kind: 'flag', values: flags },
  ] as const
  for (const { kind, values } of places)
    for (const [name, value] of Object.entries(values)) {
      const resource = resourceOf({ command, kind, name })
      if (resource === undefined) continue
      const isLeftOut = (text: string) =>
        text === '' && kind === 'flag' && hasOptionalValue(command.rules.flags[name])
      const find = (text: unknown) =>
        typeof text === 'string' && text !== '-' && !isLeftOut(text)
          ? findId(resource, text.trim(), call, { ...flags, ...args })
          : text
      values[name] = Array.isArray(value) ? await Promise.all(value.map(find)) : await find(value)
    }
}

/**
 * Returns the id of the resource that `text` names.
 *
 * @throws {CommandError} 3 when there is none. @throws {UsageError} when there are several, or the text
 * cannot be part of an id.
 */
async function findId(
  resource: ResourceName,
  text: string,
  call: Client,
  given: Values = {},
): Promise<string> {
  if (isComplete(resource, text)) return text
  const { noun, listCommand } = resources[resource]
  const part = toIdPart(resource, text)
  if (part === undefined && resources[resource].name === undefined)
    throw new UsageError(
      `${JSON.stringify(text)} is not an id of ${withArticle(noun)}. ${formOf(resource)}`,
      listCommand,
    )
  const found: Item[] = []
  let isAll = false
  for (let page = 0; page < maxPages && !isAll; page += 1) {
    const query = { limit: pageSize, offset: page * pageSize, order: 'desc' } as const
    const { items, hasMore } = await readItems(resource, call, query, given)
    found.push(...items.filter((item) => isNamed(resource, item, text, part)))
    isAll = !hasMore
  }
  const among = isAll ? '' : ` among the newest ${maxPages * pageSize}`
  const [first, ...more] = withoutOpenInvitations(resource, found)
  const other = first || part === undefined ? undefined : await findOther(resource, hasPart(part), call)
  if (other)
    throw new CommandError(
      `${JSON.stringify(text)} is of the id of ${withArticle(other.noun)}, not of ${withArticle(noun)}.`,
      3,
      other.command,
    )
  if (!first)
    throw new CommandError(
      `There is no ${noun} ${JSON.stringify(text)}${among}. ${formOf(resource)}`,
      3,
      listCommand,
    )
  if (more.length > 0) throw ambiguous(noun, text, [first, ...more], listCommand)
  return first.id
}

/** Texts that stand for an id: a DID or a URL, a file, a token, or a document in base64 or hex. */
const others = /^(?:(?:did|https?):|@|ey[\w-]+\.|[\w+/=-]{300,}$)/i

/** A DID as people read it, such as `did:jwk:eyJhb…ZyIn0`. */
const shortened = /^(did:[^…]+)…([^…]+)$/

/** True for a text that needs no search: an id, another text that may stand for it, or the URI of a schema. */
function isComplete(resource: ResourceName, text: string): boolean {
  const isUri = resource === 'schema' && /^urn:/i.test(text)
  if (resource === 'did' && shortened.test(text)) return false
  return (resource !== 'did' && isGuid(text)) || isUri || others.test(text)
}

/** The text as a part of an id, without the ellipsis that tables print; undefined when it cannot be one. */
function toIdPart(resource: ResourceName, text: string): string | undefined {
  const part = text.replaceAll(/^(?:…|\.{3})|(?:…|\.{3})$/g, '')
  const characters = resource === 'did' ? /^[\w.-]+$/ : /^[0-9a-f-]+$/i
  return part.length >= minPartLength && characters.test(part) ? part : undefined
}

function isNamed(
  resource: ResourceName,
  { id, names }: Item,
  text: string,
  part: string | undefined,
): boolean {
  if (names.some((name) => name.toLowerCase() === text.toLowerCase())) return true
  const [, start, end] = (resource === 'did' && shortened.exec(text)) || []
  if (start !== undefined) return id.startsWith(start) && id.endsWith(end!)
  if (part === undefined) return false
  if (resource === 'did') return id.endsWith(part)
  return hasPart(part)({ id })
}

function hasPart(part: string): (item: Pick<Item, 'id'>) => boolean {
  const small = part.toLowerCase()
  return ({ id }) => id.startsWith(small) || id.endsWith(small)
}

/** Prefers established connections to unanswered invitations with the same label. */
function withoutOpenInvitations(resource: ResourceName, found: Item[]): Item[] {
  if (resource !== 'connection') return found
  const established = found.filter(isConnected)
  return established.length > 0 ? established : found
}

function formOf(resource: ResourceName): string {
  const { name } = resources[resource]
  return resource === 'did'
    ? `Name a DID, such as did:${usualMethod}:…, its label, or at least ${minPartLength} characters of its end.`
    : `Name it by its id, such as 01a20725-6f2b-7d4e-8c15-b0f3a2917c3d, ${name === undefined ? '' : `its ${name}, `}or at least ${minPartLength} characters of the end of the id.`
}

function ambiguous(noun: string, text: string, found: readonly Item[], listCommand: string): UsageError {
  const lines = found
    .slice(0, maxCandidates)
    .map(({ id, about, state }) => `  ${id}  ${[about, state].filter(Boolean).join(', ')}`)
  const rest = found.length > maxCandidates ? [`  and ${found.length - maxCandidates} more`] : []
  return new UsageError(
    [`Several ${plural(noun)} match ${JSON.stringify(text)}:`, ...lines, ...rest].map(safeLine).join('\n'),
    listCommand,
  )
}

function plural(noun: string): string {
  return noun.endsWith('y') && !noun.endsWith('ey') ? `${noun.slice(0, -1)}ies` : `${noun}s`
}
