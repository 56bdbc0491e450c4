/** The actions of an update of a DID, from flags. The order between different flags is lost on the command line, so it is fixed here. */
import * as Flags from '@oclif/core/flags'
import type { Input } from '../client/answer.ts'
import { UsageError } from '../errors/usage.ts'
import { readKey, readService, readServicePatch, unwrap } from './did.ts'
import { readJson } from './json.ts'

export type Actions = Input<'POST /did-registrar/dids/{didRef}/updates'>['body']['actions']

const many = { multiple: true, multipleNonGreedy: true } as const

export const actionFlags = {
  'add-key': Flags.string({
    ...many,
    description: 'a new key: id:purpose, or id:purpose:curve; on secp256k1 unless said',
  }),
  'remove-key': Flags.string({
    ...many,
    description: 'id of a key to remove; its id can never be used again',
  }),
  'add-internal-key': Flags.string({
    ...many,
    description: 'id of a new key that is not in the document, for entries on the ledger (vdr)',
  }),
  'remove-internal-key': Flags.string({ ...many, description: 'id of such a key to remove' }),
  'add-service': Flags.string({
    ...many,
    description: 'a new service: id,type,endpoint, or a JSON object, written out or @file',
  }),
  'remove-service': Flags.string({
    ...many,
    description: 'id of a service to remove; its id can never be used again',
  }),
  'update-service': Flags.string({
    ...many,
    description:
      'a service as it is from now on: id,type,endpoint, where an empty part stays; or JSON as above',
  }),
  context: Flags.string({
    ...many,
    exclusive: ['clear-contexts'],
    description: 'a context, by its URI; those that are given take the place of all there are',
  }),
  'clear-contexts': Flags.boolean({ description: 'have no contexts any more' }),
  actions: Flags.string({
    description:
      'all actions, in an order of your own, as the API takes them: @file.json, @- for standard input, or written out',
  }),
} as const

type Given = {
  [Name in keyof typeof actionFlags]?:
    (Name extends 'clear-contexts' ? boolean : Name extends 'actions' ? string : string[]) | undefined
}

/**
 * Removals first, then changes, additions and contexts last; within one flag in the order given.
 *
 * @throws {UsageError} when there is none, one is malformed, or `actions` is not alone.
 */
export function readActions(flags: Given): Actions {
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
  if (single.length > 0) throw new UsageError('--actions says everything: it is given alone.')
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
