/** Claims → an SD-JWT's payload and disclosures (RFC 9901 §6): everything, at every level, may be shown or kept back by itself. */
import { isJsonObject, type JsonObject } from '../../base/json.ts'
import { digestBy, disclose } from './disclosure.ts'

const digest = digestBy('sha-256')

/** Hides all claims behind digests; those of an object are sorted, so that their order says nothing. */
export function pack(claims: JsonObject): { payload: JsonObject; disclosures: string[] } {
  const disclosures: string[] = []
  const payload = packObject(claims, disclosures)
  return { payload, disclosures }
}

function packObject(object: JsonObject, disclosures: string[]): JsonObject {
  const digests = Object.entries(object).map(([name, value]) =>
    put(disclosures, disclose(packValue(value, disclosures), name)),
  )
  return digests.length > 0 ? { _sd: digests.toSorted() } : {}
}

function packValue(value: unknown, disclosures: string[]): unknown {
  if (Array.isArray(value))
    return value.map((element) => ({ '...': put(disclosures, disclose(packValue(element, disclosures))) }))
  return isJsonObject(value) ? packObject(value, disclosures) : value
}

function put(disclosures: string[], disclosure: string): string {
  disclosures.push(disclosure)
  return digest(disclosure)
}
