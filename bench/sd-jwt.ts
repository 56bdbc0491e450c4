/**
 * SD-JWT credentials with five disclosable claims, signed with Ed25519: this agent, the bare steps, and the
 * OpenWallet Foundation's library.
 */
import { verifySdJwt } from '../test/credentials/codecs/_verify.ts'
import { createHash, randomBytes } from 'node:crypto'
import { SDJwtInstance } from '@sd-jwt/core'
import { issueSdJwt } from '../src/credentials/codecs/sd-jwt/sd-jwt.ts'
import { foreign, ofAgent, peer, plain, type Suites } from './_harness.ts'
import { claims, encode, issuer, newSigner, now, signBare, verifyBare } from './_jwt.ts'

const subject = 'did:example:holder'
const vct = 'https://example.com/person'
const hash = (text: string) => createHash('sha256').update(text).digest('base64url')
const salt = () => randomBytes(16).toString('base64url')

/** Issued and verified, with all claims disclosed. */
export async function openSdJwt(): Promise<Suites> {
  const signer = newSigner('EdDSA')
  const issue = () =>
    issueSdJwt({
      issuerDid: issuer,
      issuerKey: signer.key,
      subjectDid: subject,
      claims,
      vct,
      expiresAt: now + 3_600,
      now,
    })
  const token = { iss: issuer, sub: subject, iat: now, exp: now + 3_600, vct }
  const bareIssue = () => {
    const disclosures = Object.entries(claims).map(([name, value]) => encode([salt(), name, value]))
    return [
      signBare(signer, { ...token, _sd: disclosures.map(hash), _sd_alg: 'sha-256' }),
      ...disclosures,
      '',
    ].join('~')
  }
  const bareVerify = (text: string) => {
    const [jwt, ...disclosures] = text.split('~').slice(0, -1)
    const { _sd: digests } = verifyBare(signer, jwt!) as { _sd: string[] }
    for (const disclosure of disclosures) {
      JSON.parse(Buffer.from(disclosure, 'base64url').toString())
      if (!digests.includes(hash(disclosure))) throw new Error('a disclosure belongs to no digest')
    }
  }
  const library = new SDJwtInstance({
    signer: (input) => Buffer.from(signer.bare.sign(input)).toString('base64url'),
    verifier: (input, signature) => signer.bare.verify(input, Buffer.from(signature, 'base64url')),
    signAlg: 'EdDSA',
    hasher: (data, alg) =>
      createHash(alg.replace('-', ''))
        .update(Buffer.from(data as never))
        .digest(),
    hashAlg: 'sha-256',
    saltGenerator: salt,
  })
  const theirIssue = () => library.issue({ ...token, ...claims }, { _sd: Object.keys(claims) as never })
  const resolve = () => Promise.resolve(signer.document)
  const [signed, bare, theirs] = [issue(), bareIssue(), await theirIssue()]
  return plain({
    'Credentials: issue an SD-JWT, EdDSA': [
      ofAgent(issue),
      peer('bare steps, node:crypto', bareIssue, 1.2),
      foreign('@sd-jwt/core with node:crypto', theirIssue),
    ],
    'Credentials: verify an SD-JWT, EdDSA': [
      ofAgent(() => verifySdJwt(signed, { resolve, now })),
      peer('bare steps, node:crypto', () => bareVerify(bare), 1.2),
      foreign('@sd-jwt/core with node:crypto', () => library.verify(theirs)),
    ],
  })
}
