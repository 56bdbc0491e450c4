/**
 * The result of DID resolution (W3C DID Resolution): the document, its metadata, and the metadata of the
 * resolution.
 */
import * as z from 'zod'
import { Problem } from '../foundation/problem.ts'
import { DidDocument } from './document.ts'

/** Error codes of resolution, the last part of the problem types `error:DIDResolution:*`. */
export const ResolutionError = z.enum([
  'invalidDid',
  'notFound',
  'representationNotSupported',
  'deactivated',
  'methodNotSupported',
])
export type ResolutionError = z.infer<typeof ResolutionError>

/** Only did:prism has dates (ISO 8601 in UTC with whole seconds) and `versionId`. */
export const DidDocumentMetadata = z.object({
  deactivated: z.boolean().optional(),
  canonicalId: z.string().optional(),
  versionId: z.string().optional(),
  created: z.string().optional(),
  updated: z.string().optional(),
})
export type DidDocumentMetadata = z.infer<typeof DidDocumentMetadata>

/** `error` and `message` when there is no document, otherwise the media type of the document. */
export const DidResolutionMetadata = z.object({
  contentType: z.string().optional(),
  error: ResolutionError.optional(),
  message: z.string().optional(),
})
export type DidResolutionMetadata = z.infer<typeof DidResolutionMetadata>

export const ResolutionResult = z
  .object({
    didDocument: DidDocument.optional(),
    didDocumentMetadata: DidDocumentMetadata,
    didResolutionMetadata: DidResolutionMetadata,
  })
  .meta({ id: 'DIDResolutionResult' })
export type ResolutionResult = z.infer<typeof ResolutionResult>

/** Creates the errors of DIDs that break the rules of their method. */
export function invalidDid(method: string) {
  return (did: string, reason: string): Problem =>
    new Problem(
      'error:DIDResolution:invalidDid',
      `${did.slice(0, 100)} is not a valid did:${method}: ${reason}`,
    )
}

export function found(
  didDocument: DidDocument,
  didDocumentMetadata: DidDocumentMetadata = {},
): ResolutionResult {
  return {
    didDocument,
    didDocumentMetadata,
    didResolutionMetadata: { contentType: 'application/did+ld+json' },
  }
}
