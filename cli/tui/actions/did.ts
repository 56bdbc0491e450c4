/** Actions on DIDs, and the choice of a wallet DID by the purpose of its keys. */
import { createDid, usualKeys } from '../../client/new-did.ts'
import { poll } from '../../poll.ts'
import type { Did } from '../data/data.ts'
import type { Action, ActionContext } from './action.ts'
import { factsOf } from '../../../src/definitions/did-names.ts'

export const didActions: readonly Action<Did>[] = [
  {
    key: 'p',
    word: 'publish',
    when: ({ status, pendingOperation }) => status === 'CREATED' && pendingOperation === undefined,
    run: async (context, { did }) => {
      context.say('Publishing …')
      await publishDid(context, did)
      return 'The DID is being published. Its state changes when it is on the ledger.'
    },
  },
  { key: 'L', word: 'label', run: label },
  { key: 'D', word: 'deactivate', when: canBeDeactivated, run: deactivate },
]

/** Milliseconds that a deactivation waits for the ledger. */
const patienceMs = 10_000

function canBeDeactivated({ did, status, deactivated, pendingOperation }: Did): boolean {
  const isKey = factsOf(did)?.managed?.isKey === true
  return !isKey && status === 'PUBLISHED' && !deactivated && pendingOperation === undefined
}

async function deactivate(context: ActionContext, { did: didRef }: Did): Promise<string | undefined> {
  const lines = ['It no longer resolves, so credentials that it issued no longer verify.']
  if (!(await context.confirm('Deactivate this DID for good? This cannot be undone.', lines)))
    return undefined
  context.say('Deactivating …')
  await context.call('POST /did-registrar/dids/{didRef}/deactivations', { path: { didRef } })
  // No event tells of a deactivation.
  const { deactivated } = await poll(
    () => context.call('GET /did-registrar/dids/{didRef}', { path: { didRef } }),
    ({ pendingOperation }) => pendingOperation === undefined,
    patienceMs,
  )
  await context.store.reloadDids()
  return deactivated ? 'The DID is deactivated.' : 'The deactivation is on its way to the ledger.'
}

async function label(context: ActionContext, { did, label: before = '' }: Did): Promise<string | undefined> {
  const hint = 'your name for the DID; it is not sent'
  const field = { name: 'label', label: 'label', value: before, hint }
  const values = await context.fill('Label the DID', [field])
  if (!values) return undefined
  const changed = await context.call('PATCH /did-registrar/dids/{didRef}', {
    path: { didRef: did },
    body: { label: values.label ?? '' },
  })
  await context.store.reloadDids()
  return changed.label === undefined ? 'The label is removed.' : `The label is “${changed.label}”.`
}

type Purpose = 'authentication' | 'assertionMethod'

/** A DID and the fragments of its keys for one purpose. */
type OwnDid = { did: string; keys: readonly string[] }

/** The number of DIDs to choose from, newest first. Each is resolved to find its keys. */
const most = 30

/**
 * Asks for a DID with an authentication key as the subject of the credential that `lines` describe. Undefined
 * on Esc.
 */
export async function chooseSubject(
  context: ActionContext,
  lines: readonly string[],
): Promise<OwnDid | undefined> {
  const options = await optionsFor(context, 'authentication', () => true)
  const chosen = await context.choose<OwnDid | 'new'>(
    'Accept the offer: which DID is the subject?',
    [...options, { label: 'a new DID, made now', value: 'new' as const }],
    lines,
  )
  return chosen === 'new' ? { did: await makeDid(context), keys: [usualKeys.authentication] } : chosen
}

/** Asks for a published DID with an assertionMethod key as the issuer. Undefined on Esc. */
export async function chooseIssuer(context: ActionContext): Promise<OwnDid | undefined> {
  const options = await optionsFor(context, 'assertionMethod', ({ status }) => status === 'PUBLISHED')
  const chosen = await context.choose<OwnDid | 'new'>('Which DID issues it?', [
    ...options,
    { label: 'a new DID, made and published now', value: 'new' as const },
  ])
  return chosen === 'new' ? { did: await makePublished(context), keys: [usualKeys.assertion] } : chosen
}

/** Asks for the DID that signs a request, or for none. Undefined on Esc. */
export async function chooseSigner(context: ActionContext): Promise<{ did: string | undefined } | undefined> {
  const options = await optionsFor(context, 'authentication', ({ status }) => status === 'PUBLISHED')
  const chosen = await context.choose<{ did: string | undefined } | 'new'>('Which DID signs the request?', [
    ...options,
    { label: 'a new DID, made and published now', value: 'new' as const },
    {
      label: 'none',
      detail: 'a longer link, and the wallet cannot tell who asks',
      value: { did: undefined },
    },
  ])
  return chosen === 'new' ? { did: await makePublished(context) } : chosen
}

async function makePublished(context: ActionContext): Promise<string> {
  const did = await makeDid(context)
  await publishDid(context, did)
  context.say('Waiting for the ledger to publish the DID …')
  await context.until(`${did} is published`, ({ dids }) =>
    dids.some((each) => each.did === did && each.status === 'PUBLISHED'),
  )
  return did
}

/** Creates a DID like `agent did create`. Returns its short form. */
export async function makeDid(context: ActionContext): Promise<string> {
  context.say('Making a DID …')
  const did = await createDid(context.call)
  await context.store.reloadDids()
  return did
}

async function publishDid(context: ActionContext, didRef: string): Promise<void> {
  await context.call('POST /did-registrar/dids/{didRef}/publications', { path: { didRef } })
  await context.store.reloadDids()
}

async function optionsFor(context: ActionContext, purpose: Purpose, fits: (did: Did) => boolean) {
  context.say('Loading the wallet’s DIDs …')
  await context.store.reloadDids()
  const dids = context.data().dids.filter((did) => !did.deactivated && fits(did))
  const owned = await Promise.all(
    dids
      .slice(-most)
      .toReversed()
      .map(async (did) => ({ did, keys: await keysOf(context, did, purpose) })),
  )
  return owned
    .filter(({ keys }) => keys.length > 0)
    .map(({ did: { did, label, status }, keys }) => ({
      label: label === undefined ? did : `${label}  ${did}`,
      detail: status,
      value: { did, keys },
    }))
}

/** Returns the fragments of a DID's keys for a purpose. Empty if the DID does not resolve. */
async function keysOf(
  context: ActionContext,
  { did, longFormDid }: Did,
  purpose: Purpose,
): Promise<string[]> {
  const resolved = await context
    .call('GET /dids/{didRef}', { path: { didRef: longFormDid ?? did } })
    .catch(() => ({}))
  const { didDocument } = resolved as { didDocument?: Partial<Record<Purpose, unknown[]>> | null }
  return (didDocument?.[purpose] ?? []).map((key) => {
    const id = typeof key === 'string' ? key : String((key as { id?: unknown }).id)
    return id.slice(id.indexOf('#') + 1)
  })
}
