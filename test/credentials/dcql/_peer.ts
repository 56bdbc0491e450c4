/** The package `dcql`, which answers the same queries. */
import { DcqlQuery as PeerQuery, type DcqlCredential as PeerCredential } from 'dcql'
import { expect } from 'vitest'
import type { DcqlCredential } from '../../../src/credentials/dcql/match.ts'
import type { DcqlQuery } from '../../../src/credentials/dcql/query.ts'
import { selectCredentials } from './_select.ts'

const toPeer = ({ format, types, claims, isBound, authorityKeyIds }: DcqlCredential) =>
  ({
    credential_format: format,
    ...(format === 'dc+sd-jwt' ? { vct: types[0] } : { type: types }),
    claims,
    cryptographic_holder_binding: isBound,
    ...(authorityKeyIds && { authority: { type: 'aki', values: authorityKeyIds } }),
  }) as PeerCredential

/** The result of the package. */
export function askPeer(query: DcqlQuery, credentials: readonly DcqlCredential[]) {
  const parsed = PeerQuery.parse(query as PeerQuery.Input)
  PeerQuery.validate(parsed)
  return PeerQuery.query(parsed, credentials.map(toPeer))
}

/** Both find the same credentials, with the same claim sets, and agree whether the query is answered. */
export function expectAsPeer(query: DcqlQuery, credentials: readonly DcqlCredential[]): void {
  const { candidates, answer } = selectCredentials(query, credentials)
  const peer = askPeer(query, credentials)
  expect(answer !== undefined).toBe(peer.can_be_satisfied)
  for (const { id, claims = [], claim_sets: sets } of query.credentials) {
    const found = (peer.credential_matches[id]?.valid_credentials ?? []).map((each) => {
      const [first] = each.claims.valid_claim_sets
      const named = sets?.[first.claim_set_index ?? 0]
      const chosen = named ? named.map((name) => claims.find((claim) => claim.id === name)!) : claims
      return { index: each.input_credential_index, paths: chosen.map(({ path }) => path) }
    })
    expect(candidates[id]!.map(({ index, paths = [] }) => ({ index, paths }))).toEqual(found)
  }
}
