/** What commands print of verification policies. */
import type { Answer } from '../client/api.ts'

export type Policy = Answer<'GET /verification/policies/{id}'>

/** A policy as names and values. */
export function policyFields({
  id,
  name,
  description,
  nonce,
  constraints,
  updatedAt,
}: Policy): [name: string, value: unknown][] {
  return [
    ['policy', id],
    ['name', name],
    ['description', description || undefined],
    ['accepts', constraints.length === 0 ? 'any credential' : undefined],
    ...constraints.map((constraint): [string, unknown] => ['accepts', acceptedBy(constraint)]),
    ['version', nonce],
    ['updated', updatedAt],
  ]
}

/** One constraint in words. */
export function acceptedBy({ schemaId, trustedIssuers = [] }: Policy['constraints'][number]): string {
  return `${schemaId} of ${trustedIssuers?.length ? trustedIssuers.join(', ') : 'anybody'}`
}
