/** The keys that a request shows, as what is remembered of them: a digest, worked out once for each request. */
import type { IncomingHttpHeaders } from 'node:http'
import { createSight } from '../../src/base/sight.ts'

/** The digest of the keys in some headers; nothing when there is none. */
export type Shown = (headers: IncomingHttpHeaders) => string | undefined

export function createShown(): Shown {
  const sightOf = createSight()
  const seen = new WeakMap<IncomingHttpHeaders, string>()
  return (headers) => {
    const { apikey = '', 'x-admin-api-key': adminKey = '' } = headers
    if (apikey === '' && adminKey === '') return undefined
    const shown = seen.get(headers) ?? sightOf(JSON.stringify([adminKey, apikey]))
    seen.set(headers, shown)
    return shown
  }
}
