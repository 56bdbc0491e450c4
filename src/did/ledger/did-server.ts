/**
 * DID resolution of the NeoPRISM HTTP API, from the embedded ledger (NeoPRISM's `lib/did-resolver-http`,
 * `lib/did-prism`).
 */
import { toHex } from '../../foundation/bytes.ts'
import { Problem } from '../../foundation/problem.ts'
import { encodeDidData } from '../prism/did-data.ts'
import { embeddedState, parsePrismDid, toShortForm } from '../prism/did.ts'
import { toDocument } from '../prism/document.ts'
import type { DidState } from '../prism/state.ts'
import type { Ledger } from './ledger.ts'
import { type ResolutionErrorCode, resolutionErrors } from './neoprism.ts'

/** Media types of a DID: the document, or the resolution result. */
export const didMedia = ['application/did', 'application/did-resolution', 'application/json'] as const
export type DidMedia = (typeof didMedia)[number]

export type DidAnswer = { status: number; type: DidMedia; body: object }

const codes = {
  'error:DIDResolution:invalidDid': 'https://www.w3.org/ns/did#INVALID_DID',
  'error:DIDResolution:notFound': 'https://www.w3.org/ns/did#NOT_FOUND',
  'error:DIDResolution:representationNotSupported': 'https://www.w3.org/ns/did#REPRESENTATION_NOT_SUPPORTED',
  'error:DIDResolution:methodNotSupported': 'https://www.w3.org/ns/did#METHOD_NOT_SUPPORTED',
} as const satisfies Record<string, ResolutionErrorCode>

/** Resolves a DID. `type` is `undefined` if no media type is acceptable. Errors are resolution results. */
export async function resolveForNode(
  ledger: Pick<Ledger, 'getState'>,
  did: string,
  type: DidMedia | undefined,
): Promise<DidAnswer> {
  try {
    if (!type)
      throw new Problem(
        'error:DIDResolution:representationNotSupported',
        `a DID is available as ${didMedia.join(', ')}`,
      )
    const state = await findState(ledger, did)
    const didDocument = state.deactivated ? null : toDocument(state, did)
    if (type !== 'application/did-resolution' && didDocument) return { status: 200, type, body: didDocument }
    const result = {
      didDocument,
      didResolutionMetadata: { contentType: 'application/did-resolution' },
      didDocumentMetadata: toMetadata(state, did),
    }
    return { status: state.deactivated ? 410 : 200, type: 'application/did-resolution', body: result }
  } catch (error) {
    if (!(error instanceof Problem) || !Object.hasOwn(codes, error.type)) throw error
    const code = codes[error.type as keyof typeof codes]
    const didResolutionMetadata = { error: { type: code, title: error.title, detail: error.message } }
    const body = { didDocument: null, didResolutionMetadata, didDocumentMetadata: {} }
    return { status: resolutionErrors[code], type: 'application/did-resolution', body }
  }
}

/** The `DIDData` of a DID in hexadecimal. @throws {Problem} `error:DIDResolution:*` */
export async function dataForNode(ledger: Pick<Ledger, 'getState'>, did: string): Promise<string> {
  return toHex(encodeDidData(await findState(ledger, did)))
}

async function findState(ledger: Pick<Ledger, 'getState'>, did: string): Promise<DidState> {
  if (/^did:(?!prism:)[a-z0-9]+:./.test(did)) {
    throw new Problem('error:DIDResolution:methodNotSupported', 'this ledger holds did:prism only')
  }
  const { suffix, operation } = parsePrismDid(did)
  const state = (await ledger.getState(suffix)) ?? (operation && embeddedState(did, operation))
  if (!state) throw new Problem('error:DIDResolution:notFound', 'the DID is not published')
  return state
}

/** The metadata of a state. Its times keep their milliseconds, unlike those of other resolution results. */
function toMetadata(
  { suffix, lastOperationHash: versionId, deactivated, createdAt: created, updatedAt: updated }: DidState,
  did: string,
) {
  const canonicalId = toShortForm(suffix)
  return {
    deactivated,
    versionId,
    ...(created !== undefined && { created, updated, ...(did !== canonicalId && { canonicalId }) }),
  }
}
