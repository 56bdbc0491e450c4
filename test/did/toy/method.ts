/** did:toy, a DID method for tests: its ledger is a map of this process, without which a DID has no document. */
import { Problem } from '../../../src/foundation/problem.ts'
import type { DidDocument } from '../../../src/did/document.ts'
import { found, type ResolutionResult } from '../../../src/did/resolution.ts'

const ledger = new Map<string, DidDocument | undefined>()

/** Publishes a document. Without one, the DID is deactivated. */
export function publishToy(did: string, document?: DidDocument): void {
  ledger.set(did, document)
}

export async function resolveToyDid(did: string): Promise<ResolutionResult> {
  const document = ledger.get(did)
  if (document) return found(document)
  throw new Problem(
    `error:DIDResolution:${ledger.has(did) ? 'deactivated' : 'notFound'}`,
    `${did} has no document`,
  )
}
