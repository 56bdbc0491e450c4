/** What commands print of API keys. */
import type { Answer } from '../client/api.ts'
import { inStyle } from './colour.ts'

type ApiKey = Answer<'GET /iam/entities/{id}/api-keys'>['contents'][number]

/** The state of a key, in its colour. */
export function keyState({ state }: ApiKey) {
  return inStyle(state === 'active' ? 'good' : 'bad', state)
}

/** What a key may be used for. */
export function keyScopes({ scopes }: ApiKey): string {
  return scopes?.join(' ') ?? 'everything'
}

/** A key as names and values, without the key itself. */
export function keyFields(key: ApiKey) {
  return [
    ['key', key.id],
    ['name', key.name],
    ['tenant', key.entityId],
    ['state', keyState(key)],
    ['for', keyScopes(key)],
    ['created', key.createdAt],
    ['last used', key.lastUsedAt],
    ['expires', key.expiresAt],
    ['revoked', key.revokedAt],
  ] as const
}
