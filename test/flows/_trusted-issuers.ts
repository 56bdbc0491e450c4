/** What the tests of trusted issuers share. */
import { expect } from 'vitest'
import { newDid, until, type Tenant } from '../support/tenants.ts'
import { startConnected } from './_steps.ts'

export const refused = {
  type: 'error:CredentialServiceError:InvalidCredentialIssue',
  detail: expect.stringContaining('trusted issuers'),
}

/**
 * A connected pair whose issuer has two DIDs; `trust` sets the automatic acceptance of the holder's
 * connection.
 */
export async function startScene() {
  const pair = await startConnected({}, 'Ed25519')
  const { issuer, holder, connectionId, subjectId } = pair
  return {
    ...pair,
    named: { did: pair.issuingDID, longFormDid: pair.issuingLongForm },
    other: await newDid(issuer, 'assertionMethod', 'Ed25519'),
    trust: (automaticAcceptance: object) =>
      holder.call('PATCH /connections/{connectionId}', {
        path: { connectionId: pair.holderConnectionId },
        body: { automaticAcceptance: { credentialOffers: true, subjectId, ...automaticAcceptance } },
      }),
    offer: (issuingDID: string, more: object = {}) =>
      issuer.call('POST /issue-credentials/credential-offers', {
        body: { connectionId, issuingDID, claims: { a: 1 }, automaticIssuance: true, ...more },
      }),
  }
}

/** The record of an offer that could not be accepted automatically. */
export async function failedIn({ call }: Tenant, thid: string, why: string) {
  const ask = async () => (await call('GET /issue-credentials/records', { query: { thid } })).contents[0]
  const record = await until('the reason in the record', ask, (each) => each?.metaLastFailure !== undefined)
  expect(record).toMatchObject({
    protocolState: 'OfferReceived',
    metaLastFailure: { detail: expect.stringContaining(why) },
  })
  return record!
}
