/** Actions on DIDs, and the choice of a wallet DID by the purpose of its keys. */
import type { Did } from '../data/data.ts'
import { copying, tracing, type Action, type Desk } from './action.ts'
import { shortForm } from '../../format/text.ts'

export function didActions({ did, status, pendingOperation }: Did): Action[] {
  const canBePublished = status === 'CREATED' && pendingOperation === undefined
  return [...(canBePublished ? [publishing(did)] : []), ...tracing(did), ...copying('DID', did)]
}

function publishing(did: string): Action {
  return {
    key: 'p',
    word: 'publish',
    run: async (desk) => {
      desk.say('Publishing …')
      await publishDid(desk, did)
      return 'The DID is being published. Its state changes when it is on the ledger.'
    },
  }
}

type Purpose = 'authentication' | 'assertionMethod'

/** A DID and the fragments of its keys for one purpose. */
export type OwnDid = { did: string; keys: readonly string[] }

/** The number of DIDs to choose from, newest first. Each is resolved to find its keys. */
const most = 30

/** Asks for a DID with an authentication key as the subject of a credential. Undefined on Esc. */
export async function chooseSubject(desk: Desk): Promise<OwnDid | undefined> {
  const options = await optionsFor(desk, 'authentication', () => true)
  const chosen = await desk.choose<OwnDid | 'new'>('Which DID is the subject of the credential?', [
    ...options,
    { label: 'a new DID, made now', value: 'new' as const },
  ])
  return chosen === 'new' ? { did: await makeDid(desk), keys: [authenticationKey] } : chosen
}

/** Asks for a published DID with an assertionMethod key as the issuer. Undefined on Esc. */
export async function chooseIssuer(desk: Desk): Promise<OwnDid | undefined> {
  const options = await optionsFor(desk, 'assertionMethod', ({ status }) => status === 'PUBLISHED')
  const chosen = await desk.choose<OwnDid | 'new'>('Which DID issues it?', [
    ...options,
    { label: 'a new DID, made and published now', value: 'new' as const },
  ])
  if (chosen !== 'new') return chosen
  const did = await makeDid(desk)
  await publishDid(desk, did)
  desk.say('Waiting for the ledger to publish the DID …')
  await desk.until(`${did} is published`, ({ dids }) =>
    dids.some((each) => each.did === did && each.status === 'PUBLISHED'),
  )
  return { did, keys: [assertionKey] }
}

const authenticationKey = 'auth-1'
const assertionKey = 'assertion-1'

/** Creates a DID like `agent did create`. Returns its short form. */
export async function makeDid(desk: Desk): Promise<string> {
  desk.say('Making a DID …')
  const publicKeys = [
    { id: authenticationKey, purpose: 'authentication' as const, curve: 'secp256k1' as const },
    { id: assertionKey, purpose: 'assertionMethod' as const, curve: 'secp256k1' as const },
  ]
  const { longFormDid } = await desk.call('POST /did-registrar/dids', {
    body: { documentTemplate: { publicKeys } },
  })
  await desk.store.reloadDids()
  return shortForm(longFormDid)
}

export async function publishDid(desk: Desk, didRef: string): Promise<void> {
  await desk.call('POST /did-registrar/dids/{didRef}/publications', { path: { didRef } })
  await desk.store.reloadDids()
}

async function optionsFor(desk: Desk, purpose: Purpose, fits: (did: Did) => boolean) {
  desk.say('Loading the wallet’s DIDs …')
  await desk.store.reloadDids()
  const dids = desk.data().dids.filter((did) => !did.deactivated && fits(did))
  const owned = await Promise.all(
    dids
      .slice(-most)
      .toReversed()
      .map(async (did) => ({ did, keys: await keysOf(desk, did, purpose) })),
  )
  return owned
    .filter(({ keys }) => keys.length > 0)
    .map(({ did: { did, status }, keys }) => ({ label: did, detail: status, value: { did, keys } }))
}

/** Returns the fragments of a DID's keys for a purpose. Empty if the DID does not resolve. */
async function keysOf(desk: Desk, { did, longFormDid }: Did, purpose: Purpose): Promise<string[]> {
  const resolved = await desk
    .call('GET /dids/{didRef}', { path: { didRef: longFormDid ?? did } })
    .catch(() => ({}))
  const { didDocument } = resolved as { didDocument?: Partial<Record<Purpose, unknown[]>> | null }
  return (didDocument?.[purpose] ?? []).map((key) => {
    const id = typeof key === 'string' ? key : String((key as { id?: unknown }).id)
    return id.slice(id.indexOf('#') + 1)
  })
}
