/** The published JWT credentials and presentations of the Identus Cloud Agent and TypeScript SDK. */
import { describe, expect, test } from 'vitest'
import { decodeJws } from '../../../src/credentials/codecs/jws.ts'
import { Problem } from '../../../src/foundation/problem.ts'
import type { PublicJwk } from '../../../src/foundation/crypto/keys.ts'
import { verifyJwtVc, verifyJwtVp } from './_verify.ts'
import { canonicalDid, type Resolve } from '../../../src/did/document.ts'
import { named, readPublished } from '../../support/vectors.ts'
import { failureOf, payloadOf } from './_people.ts'

type Vector = {
  id: string
  kind: 'jwt-vc' | 'jwt-vp' | 'vp-policy'
  expect: 'ok' | 'reject' | 'either'
  reason?: string
  jwt: string
  issuerDid: string
  verifiedBy: { id: string; usage: string }[]
  publicKeyJwk: PublicJwk
  validAt?: number
  credentials?: string[]
  presentation: string
  domain: string
  challenge: string
  schemaId: string
  trustedIssuers: string[]
}

const { vectors } = readPublished('identus-jwt') as { vectors: Vector[] }
const ofKind = (kind: Vector['kind']) => vectors.filter((vector) => vector.kind === kind)
const byId = (id: string) => vectors.find((vector) => vector.id === id)!

/** Resolves the issuers of these vectors to documents with the vectors' keys. */
function resolverOf(...known: Vector[]): Resolve {
  return async (did) => {
    const about = known.filter(({ issuerDid }) => canonicalDid(issuerDid) === canonicalDid(did))
    if (about.length === 0) throw new Problem('error:DIDResolution:notFound', 'not known')
    const keys = about.flatMap(({ publicKeyJwk, verifiedBy }) =>
      verifiedBy.map(({ id, usage }) => ({ id, usage, publicKeyJwk })),
    )
    const idsOf = (wanted: string) => keys.filter(({ usage }) => usage === wanted).map(({ id }) => `#${id}`)
    return {
      id: did,
      verificationMethod: keys.map(({ id, publicKeyJwk }) => ({
        id: `#${id}`,
        type: 'JsonWebKey2020',
        controller: did,
        publicKeyJwk,
      })),
      authentication: idsOf('AUTHENTICATION_KEY'),
      assertionMethod: idsOf('ISSUING_KEY'),
    }
  }
}

/** The status lists of these credentials are not online any more. */
const credentialChecks = { verifyStatus: false }

describe('published credentials', () => {
  test.each(named(ofKind('jwt-vc')))('%s', async (_, vector) => {
    const verification = () =>
      verifyJwtVc(vector.jwt, {
        ...credentialChecks,
        resolve: resolverOf(vector),
        now: vector.validAt ?? payloadOf(vector.jwt).nbf,
      })
    if (vector.expect === 'ok') {
      expect(await verification()).toMatchObject({ key: { publicKeyJwk: vector.publicKeyJwk } })
    } else {
      // Those marked `either` are signed by a key that may not issue: the strict answer is no.
      expect(['signature', 'algorithm', 'malformed', 'no-key', 'issuer-unresolvable']).toContain(
        await failureOf(verification),
      )
    }
  })

  test.each(named(ofKind('jwt-vc').filter((vector) => vector.expect === 'ok')))(
    '%s is refused before and after its time',
    async (_, vector) => {
      const { nbf, exp } = payloadOf(vector.jwt)
      const at = (now: number) =>
        failureOf(() => verifyJwtVc(vector.jwt, { ...credentialChecks, resolve: resolverOf(vector), now }))
      expect(await at(nbf - 31)).toBe('not-yet-valid')
      if (exp !== undefined) expect(await at(exp + 31)).toBe('expired')
    },
  )

  test('a credential with a status is refused when the status is not checked', async () => {
    const vector = byId('cloud-agent-vc')
    expect(
      await failureOf(() => verifyJwtVc(vector.jwt, { resolve: resolverOf(vector), now: vector.validAt! })),
    ).toBe('status')
  })
})

describe('published presentations', () => {
  const present = (
    presentation: Vector,
    expected: Pick<Vector, 'domain' | 'challenge'>,
    constraints: { schemaId: string; trustIssuers: string[] }[],
  ) => {
    const credentials = presentation.credentials!.map(byId)
    const now = Math.max(...credentials.map(({ validAt }) => validAt!))
    const { domain: audience, challenge: nonce } = expected
    return verifyJwtVp(presentation.jwt, {
      resolve: resolverOf(presentation, ...credentials),
      audience,
      nonce,
      now,
      constraints,
      credentialChecks,
    })
  }

  test.each(named(ofKind('vp-policy')))('%s', async (_, vector) => {
    const verification = () =>
      present(byId(vector.presentation), vector, [
        { schemaId: vector.schemaId, trustIssuers: vector.trustedIssuers },
      ])
    if (vector.expect === 'ok')
      expect((await verification()).credentials.map(({ signed }) => signed.payload)).toEqual([
        decodeJws(byId('cloud-agent-vc').jwt).payload,
      ])
    else {
      const failures = {
        'issuer is not trusted': 'issuer-not-trusted',
        'schema id differs': 'schema-not-accepted',
        'aud differs': 'audience',
        'nonce differs': 'nonce',
      }
      expect(await failureOf(verification)).toBe(failures[vector.reason as keyof typeof failures])
    }
  })

  test.each(named(ofKind('jwt-vp')))('%s', async (_, vector) => {
    const { aud, nonce } = payloadOf(vector.jwt)
    const verification = () => present(vector, { domain: aud, challenge: nonce }, [])
    if (vector.expect === 'ok') expect((await verification()).holderDid).toBe(payloadOf(vector.jwt).iss)
    // The SDK's own answers no request, besides being signed by a key that may not authenticate.
    else expect(await failureOf(verification)).toBe('audience')
  })
})
