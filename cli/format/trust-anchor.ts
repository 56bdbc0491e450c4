/** Formats trust anchors. */
import type { Answer, Input } from '../client/api.ts'

type Anchor = Answer<'GET /trust-anchors/{id}'>
export type AnchorInput = Input<'POST /trust-anchors'>['body']

/** Returns the DID or the key identifier, or the subject of a certificate. */
export function contentOf({ value, subject }: Anchor): string {
  return subject ?? value
}

/** The types of documents that a certificate or the certificates of a list are trusted for. */
export function documentsOf({ docTypes, list }: Anchor): string | undefined {
  return (docTypes ?? list?.docTypes)?.join(', ')
}

export function anchorFields(anchor: Anchor): [name: string, value: unknown][] {
  const { id, type, name, keyId, notAfter, list, createdAt } = anchor
  return [
    ['anchor', id],
    ['type', type],
    ['trusts', contentOf(anchor)],
    ['for documents', documentsOf(anchor)],
    ['certificates', list?.certificates],
    ['issue', list?.issueId],
    ['of', list?.date],
    ['name', name],
    ['key id', keyId],
    [list ? 'next list' : 'ends', notAfter],
    ['created', createdAt],
  ]
}
