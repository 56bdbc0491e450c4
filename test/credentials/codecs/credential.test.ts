import { decodeJwtVc, verifyJwtVc } from './_verify.ts'
import { importJWK, SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { issueJwtVc } from '../../../src/credentials/codecs/jwt-vc.ts'
import {
  content,
  forge,
  headerOf,
  holder,
  issuer,
  now,
  partsOf,
  payloadOf,
  resolve,
  schemaId,
} from './_people.ts'

describe('decodeJwtVc', () => {
  test('reads a credential that would not verify', () => {
    const [header, payload] = partsOf(issueJwtVc(content))
    expect(decodeJwtVc(`${header}.${payload}.`)).toMatchObject({
      issuerDid: issuer.did,
      subjectDid: holder.longForm,
      schemas: [schemaId],
      validUntil: now + 3600,
    })
  })

  test('reads a credential signed by jose', async () => {
    const jwt = await new SignJWT(payloadOf(issueJwtVc(content)))
      .setProtectedHeader({ alg: 'EdDSA' })
      .sign(await importJWK(issuer.keys['issue-2'].jwk, 'EdDSA'))
    expect(decodeJwtVc(jwt).issuerDid).toBe(issuer.did)
    expect((await verifyJwtVc(jwt, { resolve, now })).key?.id).toBe(`${issuer.did}#issue-2`)
  })

  test('takes the latest beginning and the earliest end', () => {
    const payload = payloadOf(issueJwtVc(content))
    Object.assign(payload.vc, {
      issuanceDate: now + 10,
      validFrom: now - 10,
      expirationDate: now + 20,
      validUntil: now + 5_000,
    })
    expect(decodeJwtVc(forge(headerOf(content.issuerKey), payload, content.issuerKey))).toMatchObject({
      validFrom: now + 10,
      validUntil: now + 20,
    })
  })

  test.each([
    ['sub', ({ vc }: Record<string, any>) => delete vc.credentialSubject.id],
    ['credentialSubject.id', (payload: Record<string, any>) => delete payload.sub],
  ])('finds the subject in %s where it is there alone', (_, change) => {
    const payload = payloadOf(issueJwtVc(content))
    change(payload)
    expect(decodeJwtVc(forge(headerOf(content.issuerKey), payload, content.issuerKey)).subjectDid).toBe(
      holder.longForm,
    )
  })
})
