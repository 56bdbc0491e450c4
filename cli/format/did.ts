/** DIDs as a person reads them. */
import type { Answer } from '../client/api.ts'
import { inStyle, type Styled } from './colour.ts'

/** A DID of the wallet. */
export type Did = Answer<'GET /did-registrar/dids/{didRef}'>

/** The short form of a did:prism, `did:prism:<hash>`; any other DID as it is. */
export function shortForm(did: string): string {
  return did.startsWith('did:prism:') ? did.split(':', 3).join(':') : did
}

const meanings = {
  CREATED: 'not on the ledger',
  PUBLICATION_PENDING: 'on its way to the ledger',
  PUBLISHED: undefined,
} as const

/** The state of a DID with its meaning, such as `PUBLISHED (a change is on its way to the ledger)`. */
export function explainDid({ status, deactivated, pendingOperation }: Did): string {
  const change =
    pendingOperation !== undefined && status === 'PUBLISHED'
      ? 'a change is on its way to the ledger'
      : undefined
  const meaning = deactivated ? 'deactivated for good' : (change ?? meanings[status])
  return meaning === undefined ? status : `${status} (${meaning})`
}

/** As `explainDid`, in its colour. */
export function shownDid(did: Did): Styled {
  const isOver = did.deactivated || (did.status === 'PUBLISHED' && did.pendingOperation === undefined)
  return inStyle(did.deactivated ? 'bad' : isOver ? 'good' : 'waiting', explainDid(did))
}

/** The command that comes next for a DID. */
export function nextForDid({ did, status, deactivated, pendingOperation }: Did): string {
  if (deactivated) return 'agent did create'
  if (pendingOperation !== undefined) return `agent did show ${did}   # again, once the ledger has judged`
  return status === 'CREATED' ? `agent did publish ${did}` : `agent did resolve ${did}`
}
