/** What DID resolution answers (W3C DID Resolution; api.md 4.5): document, metadata of the document, metadata of the resolution. */
import { z } from 'zod'
import { DidDocument } from './document.ts'

/** Why a DID did not resolve; the last part of the problem types `error:DIDResolution:*`. */
export const ResolutionError = z.enum([
  'invalidDid',
  'notFound',
  'representationNotSupported',
  'deactivated',
  'methodNotSupported',
])
export type ResolutionError = z.infer<typeof ResolutionError>

/** `created` and `updated` in ISO 8601, UTC, whole seconds; `versionId` in hexadecimal. Methods without history have none of them. */
export const DidDocumentMetadata = z.object({
  deactivated: z.boolean().optional(),
  canonicalId: z.string().optional(),
  versionId: z.string().optional(),
  created: z.string().optional(),
  updated: z.string().optional(),
})
export type DidDocumentMetadata = z.infer<typeof DidDocumentMetadata>

/** `error` and its `message` where there is no document, else the media type of the document. */
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
