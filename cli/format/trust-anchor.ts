/** Formats trust anchors. */
import type { Answer, Input } from '../client/api.ts'

type Anchor = Answer<'GET /trust-anchors/{id}'>
export type AnchorInput = Input<'POST /trust-anchors'>['body']

/** Returns the DID or the key identifier, or the subject of a certificate. */
export function contentOf({ value, subject }: Anchor): string {
  return subject ?? value
}

export function anchorFields(anchor: Anchor): [name: string, value: unknown][] {
  const { id, type, name, keyId, notAfter, docTypes, createdAt } = anchor
  return [
    ['anchor', id],
    ['type', type],
    ['trusts', contentOf(anchor)],
    ['for documents', docTypes?.join(', ')],
    ['name', name],
    ['key id', keyId],
    ['ends', notAfter],
    ['created', createdAt],
  ]
}
