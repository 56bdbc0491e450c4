/** Resolves a did:prism: its published state, or the state in an unpublished long form. */
import { Problem } from '../../foundation/problem.ts'
import type { LedgerSources } from '../methods.ts'
import { found, type ResolutionResult } from '../resolution.ts'
import { embeddedState, parsePrismDid } from './did.ts'
import { toDocument, toMetadata } from './document.ts'
import type { DidState } from './state.ts'

/** @throws {Problem} `error:DIDResolution:invalidDid`, `…:notFound` for a short form that is not published */
export async function resolvePrismDid(
  did: string,
  { getState, once }: LedgerSources,
): Promise<ResolutionResult> {
  const { suffix, operation } = parsePrismDid(did)
  const published = await getState(suffix)
  if (published) return toResult(published, did)
  if (operation) return once(did, () => toResult(embeddedState(did, operation), did))
  throw new Problem(
    'error:DIDResolution:notFound',
    `${did} is not published on the ledger of this agent (VDR_URL); an unpublished DID resolves in its long form only`,
  )
}

function toResult(state: DidState, did: string): ResolutionResult {
  const didDocumentMetadata = toMetadata(state)
  if (!state.deactivated) return found(toDocument(state, did), didDocumentMetadata)
  return {
    didDocumentMetadata,
    didResolutionMetadata: { error: 'deactivated', message: `${did.slice(0, 100)} is deactivated` },
  }
}
