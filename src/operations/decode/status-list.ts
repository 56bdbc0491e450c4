/** Status lists: how many entries have each status. */
import type { JsonObject } from '../../foundation/json.ts'
import { fromBase64 } from '../../foundation/bytes.ts'
import { countBits, expandBits } from '../../credentials/codecs/bitstring.ts'
import { readStatusList } from '../../credentials/codecs/status-list.ts'
import { countStatuses, ListToken, type StatusBits } from '../../credentials/codecs/token-status-list.ts'
import { parseClaims } from '../../credentials/codecs/jws.ts'
import { type Facts, timeOf } from './decoded.ts'

/** The names of the status types of a Token Status List (§7.1). */
const names: Readonly<Record<number, string>> = { 0: 'valid', 1: 'invalid', 2: 'suspended' }

/** @throws {VerificationError | TypeError} */
export function listTokenFacts(payload: JsonObject): Facts {
  const { status_list: list, ...claims } = parseClaims(ListToken, payload)
  return statusListFacts(claims, list)
}

/** The facts of a list in a token of either form. @throws {TypeError} */
export function statusListFacts(
  { sub, ttl }: { sub: string; ttl?: number | undefined },
  list: { bits: StatusBits; lst: Uint8Array | string },
): Facts {
  const counts = countStatuses(list)
  const shown = [...counts].toSorted(([a], [b]) => a - b)
  return {
    subject: undefined,
    list: sub,
    entries: shown.reduce((sum, [, count]) => sum + count, 0),
    'bits per entry': list.bits,
    statuses: shown.map(([status, count]) => `${count} ${names[status] ?? 'of another meaning'} (${status})`),
    'compressed bytes': (typeof list.lst === 'string' ? fromBase64(list.lst) : list.lst).length,
    'seconds to keep': ttl,
  }
}

/** `text` is JSON or a compact JWT. @throws {VerificationError | TypeError} */
export function listCredentialFacts(text: string): Facts {
  const { list, validity } = readStatusList(text)
  const { statusPurpose, encodedList } = list.credentialSubject
  const bits = expandBits(encodedList)
  const set = countBits(bits)
  return {
    list: list.id,
    issuer: list.issuer,
    purpose: [statusPurpose].flat(),
    entries: bits.length * 8,
    statuses: [`${bits.length * 8 - set} not set (0)`, `${set} set (1)`],
    'compressed bytes': fromBase64(encodedList.replace(/^u(?=H)/, '')).length,
    'valid from': timeOf(validity.validFrom),
    expires: timeOf(validity.validUntil),
  }
}
