/** What commands print of tenants. */
import type { Answer } from '../client/api.ts'

/** A tenant as names and values. */
export function tenantFields({ id, name, walletId, createdAt, updatedAt }: Answer<'GET /iam/entities/{id}'>) {
  return [
    ['tenant', id],
    ['name', name],
    ['wallet', walletId],
    ['created', createdAt],
    ['updated', updatedAt],
  ] as const
}
