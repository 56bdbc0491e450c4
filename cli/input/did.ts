/** Keys, services and update actions of a DID, from flags. */
import * as Flags from '@oclif/core/flags'
import { curves, purposes } from '../../src/definitions/did-names.ts'
import type { Input } from '../client/api.ts'
import type { FlagValues } from '../define-command.ts'
import { UsageError } from '../errors/errors.ts'
import { repeatable } from './arguments.ts'
import { type Json, parse, readJson, readText } from './files.ts'

export type Key = { id: string; purpose: (typeof purposes)[number]; curve?: (typeof curves)[number] }
export type Service = { id: string; type: string; serviceEndpoint: string }

/** Reads a key: `id:purpose` or `id:purpose:curve`. The id may contain colons. @throws {UsageError} */
export function readKey(flag: string, text: string): Key {
  const parts = text.split(':')
  const curve = curves.find((name) => name === parts.at(-1))
  if (curve) parts.pop()
  const purpose = purposes.find((name) => name === parts.at(-1))
  const id = parts.slice(0, -1).join(':')
  if (purpose && id !== '') return { id, purpose, ...(curve && { curve }) }
  const hasPurpose = !curve && purposes.some((name) => name === parts.at(-2))
  throw new UsageError(
    hasPurpose
      ? `--${flag} ${JSON.stringify(text)}: the curve must be one of ${curves.join(', ')}.`
      : `--${flag} ${JSON.stringify(text)} is not in the form id:purpose or id:purpose:curve, with a purpose of ${purposes.join(', ')}.`,
  )
}

/**
 * Reads a service: `id,type,endpoint` or a JSON object, which the daemon validates; both may be in a file
 * (`@path`). @throws {UsageError}
 */
export function readService(flag: string, value: string): Service {
  const service = readServicePatch(flag, value)
  const { type, serviceEndpoint } = service
  if (type !== undefined && serviceEndpoint !== undefined) return { ...service, type, serviceEndpoint }
  throw new UsageError(
    `--${flag} ${JSON.stringify(value)} has no ${type === undefined ? 'type' : 'endpoint'}: give id,type,endpoint.`,
  )
}

/**
 * As `readService`, for a change: an empty part, as in `id,,endpoint`, stays as it is.
 *
 * @throws {UsageError}
 */
export function readServicePatch(flag: string, value: string): Pick<Service, 'id'> & Partial<Service> {
  const text = readText(flag, value).trim()
  if (text.startsWith('{')) return parse(flag, text) as Service
  const [, id, type, serviceEndpoint] = /^([^,]+),([^,]*),(.*)$/s.exec(text) ?? []
  if (id === undefined || (!type && !serviceEndpoint))
    throw new UsageError(
      `--${flag} ${JSON.stringify(value)} is not in the form id,type,endpoint, nor a JSON object.`,
    )
  return { id, ...(type && { type }), ...(serviceEndpoint && { serviceEndpoint }) }
}

/** Returns the member `name` of a whole API request, or the value itself. */
export function unwrap(given: Json, name: string): Json {
  const isBody =
    typeof given === 'object' && given !== null && !Array.isArray(given) && Object.hasOwn(given, name)
  return isBody ? given[name]! : given
}

export type Actions = Input<'POST /did-registrar/dids/{didRef}/updates'>['body']['actions']

export const actionFlags = {
  'add-key': Flags.string({
    ...repeatable,
    description: 'a new key: id:purpose, or id:purpose:curve; default curve: secp256k1',
  }),
  'remove-key': Flags.string({
    ...repeatable,
    description: 'id of a key to remove; its id can never be used again',
  }),
  'add-internal-key': Flags.string({
    ...repeatable,
    description: 'id of a new key for ledger entries (vdr), which is not in the document',
  }),
  'remove-internal-key': Flags.string({ ...repeatable, description: 'id of a ledger key to remove' }),
  'add-service': Flags.string({
    ...repeatable,
    description: 'a new service: id,type,endpoint, or a JSON object, inline or @file',
  }),
  'remove-service': Flags.string({
    ...repeatable,
    description: 'id of a service to remove; its id can never be used again',
  }),
  'update-service': Flags.string({
    ...repeatable,
    description: 'changes of a service: id,type,endpoint, where an empty part stays; or a JSON object',
  }),
  context: Flags.string({
    ...repeatable,
    exclusive: ['clear-contexts'],
    description: 'a context, by its URI; replaces all contexts',
  }),
  'clear-contexts': Flags.boolean({ description: 'remove all contexts' }),
  actions: Flags.string({
    description:
      'all actions in your order, as JSON of the API: @file.json, @- for standard input, or inline',
  }),
} as const

type ActionFlags = Partial<FlagValues<typeof actionFlags>>

/**
 * Reads update actions. The order of different flags is lost on the command line, so it is fixed: removals,
 * changes, additions, contexts. The order within one flag is kept.
 *
 * @throws {UsageError} when there is none, one is malformed, or `--actions` is combined with another flag.
 */
export function readActions(flags: ActionFlags): Actions {
  const single = [
    ...each(flags['remove-key'], (id) => ({ actionType: 'REMOVE_KEY', removeKey: { id } })),
    ...each(flags['remove-internal-key'], (id) => ({
      actionType: 'REMOVE_INTERNAL_KEY',
      removeInternalKey: { id },
    })),
    ...each(flags['remove-service'], (id) => ({ actionType: 'REMOVE_SERVICE', removeService: { id } })),
    ...each(flags['update-service'], (text) => ({
      actionType: 'UPDATE_SERVICE',
      updateService: readServicePatch('update-service', text),
    })),
    ...each(flags['add-key'], (text) => ({ actionType: 'ADD_KEY', addKey: readKey('add-key', text) })),
    ...each(flags['add-internal-key'], (id) => ({
      actionType: 'ADD_INTERNAL_KEY',
      addInternalKey: { id, purpose: 'vdr' },
    })),
    ...each(flags['add-service'], (text) => ({
      actionType: 'ADD_SERVICE',
      addService: readService('add-service', text),
    })),
    ...each(flags.context && [flags.context], (contexts) => ({
      actionType: 'PATCH_CONTEXT',
      patchContext: { contexts },
    })),
    ...each(flags['clear-contexts'] ? [[]] : [], (contexts) => ({
      actionType: 'PATCH_CONTEXT',
      patchContext: { contexts },
    })),
  ]
  if (flags.actions === undefined) {
    if (single.length === 0)
      throw new UsageError(
        'There is nothing to change: give --add-key, --remove-key, --add-service, or another.',
      )
    return single
  }
  if (single.length > 0)
    throw new UsageError('--actions cannot be combined with other flags that change the DID.')
  const actions = unwrap(readJson('actions', flags.actions), 'actions')
  if (!Array.isArray(actions))
    throw new UsageError(
      '--actions is not a JSON array such as [{"actionType": "REMOVE_KEY", "removeKey": {"id": "key-1"}}].',
    )
  return actions as Actions
}

function each<Value>(
  values: readonly Value[] | undefined,
  toAction: (value: Value) => Actions[number],
): Actions {
  return (values ?? []).map(toAction)
}
